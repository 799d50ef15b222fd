/**
 * Real servers for tests, without Docker: Redis, Cluster, Sentinel, PostgreSQL and Kafka,
 * and a proxy that disturbs them.
 * <ul>
 * <li>servers: {@link RedisServer}, {@link RedisServers}, {@link RedisSentinels},
 * {@link RedisCluster} with {@link Resharding}, {@link PostgresServer} and
 * {@link KafkaBroker}</li>
 * <li>faults: {@link ChaosProxy} makes a {@link Network} bad</li>
 * <li>for tests: {@link Stages} joins, {@link Within} and {@link Pauses} measure,
 * {@link Times} repeats, {@link CapturedLog} reads</li>
 * </ul>
 */
package dev.ratelimit.testing;
