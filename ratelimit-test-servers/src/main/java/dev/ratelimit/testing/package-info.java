/**
 * Real servers for tests, without Docker: Redis, Cluster, Sentinel, PostgreSQL and
 * Kafka,\n * and a proxy that disturbs them.
 */
package dev.ratelimit.testing;
