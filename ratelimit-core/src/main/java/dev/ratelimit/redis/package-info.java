/**
 * Counters in Redis: one script call decides a whole request. Also what else the core
 * keeps there.
 * <ul>
 * <li>counters: {@link RedisCounters}; a {@link Lane} per node makes a round of what
 * waits ({@link NeedOrder}, {@link RoundSize}), in which a {@link Batch} of requests
 * shares a call</li>
 * <li>calls: {@link ScriptCall}, {@link AttemptCall}, {@link ReleaseCall} and
 * {@link SettleCall} run a {@link LuaScript}, which {@link Calls} sends as a
 * {@link CallSender}; {@link ScriptReply} and {@link StateCodec} read the reply; a
 * {@link PendingAcquire} waits for it</li>
 * <li>connection: {@link RedisConnector} makes a {@link Link}: {@link SingleLink} or
 * {@link ClusterLink}; {@link ClientSettings} with {@link AnswerWatchdog} and
 * {@link LostCommands}; {@link Closing}, {@link RedisErrors} and
 * {@link ForbiddenCommands}</li>
 * <li>everything that is no check: {@link RedisSender} sends it: {@link RedisPulse} with
 * {@link PulseCodec} for heartbeats and the switch, {@link RedisHotKeys} with
 * {@link HotKeyCodec}, {@link RedisPenalties}, {@link RedisSalt}, and
 * {@link RedisSignals}, of which {@link ForgetSignal} is one</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
