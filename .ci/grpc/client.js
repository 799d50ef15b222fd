// A client in another language: two calls over the native service use up a limit of 2, then both services refuse.
// Usage: node client.js HOST:PORT PROTO
const assert = require('node:assert');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [address, proto] = process.argv.slice(2);

function service(file, name) {
  const options = { keepCase: true, longs: Number, enums: String, defaults: true, includeDirs: [__dirname] };
  const loaded = grpc.loadPackageDefinition(loader.loadSync(file, options));
  const Service = name.split('.').reduce((at, part) => at[part], loaded);
  return new Service(address, grpc.credentials.createInsecure());
}

function call(client, method, message) {
  return new Promise((resolve, reject) => client[method](message, { deadline: Date.now() + 60000 },
    (error, answer) => (error ? reject(error) : resolve(answer))));
}

async function main() {
  const limiter = service(proto, 'ratelimit.v1.RateLimiter');
  const envoy = service(path.join(__dirname, 'rls.proto'), 'envoy.service.ratelimit.v3.RateLimitService');
  const request = { policy: 'node', dimensions: { tenant: 'acme' } };
  const descriptors = [{ entries: [{ key: 'tenant', value: 'acme' }] }];

  const answers = [];
  for (let i = 0; i < 3; i++) {
    answers.push(await call(limiter, 'Check', request));
  }
  console.log(answers[0]);
  console.log(answers[2]);
  assert.deepStrictEqual(answers.map((answer) => answer.allowed), [true, true, false]);
  assert.strictEqual(answers[2].refused_by, 'per-tenant');

  const refused = await call(envoy, 'ShouldRateLimit', { domain: 'node', descriptors });
  console.log(refused.overall_code, JSON.parse(refused.raw_body.toString()));
  assert.strictEqual(refused.overall_code, 'OVER_LIMIT');

  const stream = limiter.CheckMany();
  const ids = [];
  stream.on('data', (message) => message.results.forEach((result) => ids.push(`${result.id} ${result.response?.allowed}`)));
  const ended = new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
  stream.write({ items: [{ id: 'a', check: request }, { id: 'b', check: request }] });
  stream.end();
  await ended;
  assert.deepStrictEqual(ids.sort(), ['a false', 'b false']);

  // The gateway of this test counts in memory.
  const lease = await call(limiter, 'Lease', { ...request, permits: 1, expiry: { seconds: 10 } }).catch((error) => error);
  assert.strictEqual(lease.code, grpc.status.FAILED_PRECONDITION);
  assert.match(lease.message, /Redis/);
  const settled = await call(limiter, 'Settle', { token: Buffer.alloc(64), actual: 0 }).catch((error) => error);
  assert.strictEqual(settled.code, grpc.status.FAILED_PRECONDITION);

  const unknown = await call(limiter, 'Check', { policy: 'other' }).catch((error) => error);
  assert.strictEqual(unknown.code, grpc.status.NOT_FOUND);
  console.log(unknown.message);
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
