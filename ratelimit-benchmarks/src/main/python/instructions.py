#!/usr/bin/env python3
"""Instructions that redis-server spends on a check, counted by callgrind, so that a busy machine does not matter.

Usage, from the root of the project, with redis-server and valgrind installed:
    python3 ratelimit-benchmarks/src/main/python/instructions.py
Starts a server on a free port of the loopback interface and stops it afterwards.
"""
import os, re, socket, struct, subprocess, tempfile, time

SCRIPTS = 'ratelimit-core/src/main/resources/META-INF/ratelimit/'
RAW = 'ratelimit-benchmarks/src/main/resources/dev/ratelimit/benchmarks/peers/raw-gcra.lua'
ROUNDS = 12


def quota(permits, seconds, tag, burst=None):
    """The numbers of Pace.java for GCRA."""
    window, burst = seconds * 1_000_000, burst or permits
    whole, part = divmod(window, permits)
    full, rest = burst * whole + burst * part // permits, burst * part % permits
    return struct.pack('<9d', permits, window, burst, whole, part, full, rest, tag, full + (rest > 0))


ONE = [quota(100, 60, 101)]
TWO = [quota(100, 60, 101) + quota(2000, 3600, 201), quota(1000, 60, 101) + quota(20000, 3600, 201)]
EXHAUSTED = [quota(1, 86400, 301)]
RESTS = [quota(30, 1, 1, 90_000)]
THREE = [quota(100, 60, 101) + quota(2000, 3600, 201) + quota(20000, 86400, 301)]


def text(*paths):
    return ''.join(open(path, encoding='utf-8').read() for path in paths)


class Server:

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        self.folder = folder
        self.process = subprocess.Popen(
            ['valgrind', '-q', '--tool=callgrind', f'--callgrind-out-file={folder}/out', 'redis-server', '--port', str(port),
             '--bind', '127.0.0.1', '--save', '', '--dir', folder], stdout=subprocess.DEVNULL)
        deadline = time.time() + 120
        while True:
            try:
                self.file = socket.create_connection(('127.0.0.1', port)).makefile('rwb')
                return
            except OSError:
                if time.time() > deadline:
                    raise
                time.sleep(0.1)

    def calls(self, *commands):
        """Sends commands together and waits for the replies."""
        for command in commands:
            parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
            self.file.write(b'*%d\r\n' % len(parts) + b''.join(b'$%d\r\n%s\r\n' % (len(part), part) for part in parts))
        self.file.flush()
        return [self.read() for _ in commands]

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b'-':
            raise RuntimeError(rest.decode())
        if kind == b'$':
            return self.file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        return [self.read() for _ in range(int(rest))] if kind == b'*' else rest

    def instructions(self, *commands, together=False):
        self.control('-z')
        for batch in [commands] if together else [[command] for command in commands]:
            self.calls(*batch)
        self.control('-d')
        newest = max((name for name in os.listdir(self.folder) if re.fullmatch(r'out\.\d+', name)), key=lambda name: int(name[4:]))
        return int(re.search(r'^(?:totals|summary): (\d+)', text(f'{self.folder}/{newest}'), re.M).group(1))

    def control(self, option):
        subprocess.run(['callgrind_control', option, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)


def check(server, sha, name, members, specs, numbers, requests, exist, shared=False):
    """Prints what a request costs. With `shared`, all requests of a call have the second counter in common."""
    server.calls(['FLUSHALL'])

    def call(round_number):
        count = (members - 1) * requests + 1 if shared else members * requests
        keys = ['rl:3g:{abc}%016d' % (round_number * 1000 + i) for i in range(count)]
        places = [number for i in range(requests) for number in (2 * i + 2, 1, 2 * i + 3)] if shared else []
        runs = bytes([members, requests, 2 if shared else 0, *numbers, *places])
        return ['EVALSHA', sha, len(keys), *keys, '', runs, '', *specs]
    server.calls(call(10**6), call(0), call(0))
    total = server.instructions(*[call(0 if exist else 1 + i) for i in range(ROUNDS)], together=requests == 1)
    print(f'{name:56} {total / ROUNDS / requests:9,.0f}', flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            sha, raw = server.calls(['SCRIPT', 'LOAD', text(SCRIPTS + 'pace.lua', SCRIPTS + 'gcra.lua')], ['SCRIPT', 'LOAD', text(RAW)])
            for exist in (False, True):
                state = 'existing' if exist else 'new'
                check(server, sha, f'one limit, {state}, 60 in a call', 1, ONE, [1], 60, exist)
                check(server, sha, f'three limits of two quotas, {state}, 30 in a call', 3, TWO, [1, 2, 1], 30, exist)
                check(server, sha, f'three limits of two quotas, {state}, one tenant, 30', 3, TWO, [1, 2, 1], 30, exist, True)
                check(server, sha, f'one limit of three quotas, {state}, 60 in a call', 1, THREE, [1], 60, exist)
                check(server, sha, f'one limit, {state}, alone', 1, ONE, [1], 1, exist)
                check(server, sha, f'three limits of two quotas, {state}, alone', 3, TWO, [1, 2, 1], 1, exist)
            check(server, sha, 'one limit, refused, 60 in a call', 1, EXHAUSTED, [1], 60, True)
            check(server, sha, 'one limit of 30/s (rests), 60 in a call', 1, RESTS, [1], 60, True)
            keys = ['raw:user-%d' % (10**9 + i) for i in range(60)]
            commands = [['EVALSHA', raw, 1, key, 600000, 60000000] for key in keys]
            server.calls(*commands)
            print(f'{"raw EVALSHA, existing, 60 pipelined":56} {server.instructions(*commands, together=True) / 60:9,.0f}')
            server.calls(*[['SET', key, 1_760_000_000, 'PX', 1_000_000] for key in keys])
            commands = [['INCRBY', key, 600000] for key in keys]
            print(f'{"INCRBY, existing, 60 pipelined":56} {server.instructions(*commands, together=True) / 60:9,.0f}')
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == '__main__':
    main()
