package dev.ratelimit.testing;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.slf4j.LoggerFactory;

/**
 * A real broker in this process, its own controller, which can be stopped and started
 * again on the same ports with the same data. There is a second way to it, through a
 * network that can be made sick.
 */
public final class KafkaBroker implements AutoCloseable {

	private static final int CONTROLLER = 10_000;

	private static final int PARTITIONS = 3;

	private final int port = Ports.take();

	private final ChaosProxy network = ChaosProxy.before(ServerHome.HOST, Ports.take());

	private final Path directory;

	private final Properties settings;

	private KafkaRaftServer server;

	private KafkaBroker(Path directory) throws IOException {
		this.directory = directory;
		this.settings = settings();
		Path file = Files.createFile(directory.resolve("server.properties"));
		try (OutputStream out = Files.newOutputStream(file)) {
			this.settings.store(out, null);
		}
		PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
		StorageTool.execute(new String[] { "format", "-t", Uuid.randomUuid().toString(), "-c", file.toString() },
				nowhere);
	}

	public static KafkaBroker started() throws IOException {
		for (String name : List.of("kafka", "org.apache.kafka")) {
			((Logger) LoggerFactory.getLogger(name)).setLevel(Level.ERROR);
		}
		Exit.setExitProcedure((code, message) -> {
			throw new IllegalStateException("the broker wants to exit: " + message);
		});
		Exit.setHaltProcedure((code, message) -> {
			throw new IllegalStateException("the broker wants to halt: " + message);
		});
		KafkaBroker broker = new KafkaBroker(Files.createTempDirectory("kafka"));
		broker.start();
		return broker;
	}

	/**
	 * Where clients find it.
	 */
	public String address() {
		return ServerHome.HOST + ":" + this.port;
	}

	/**
	 * Where clients find it through the network.
	 */
	public String addressBehindTheNetwork() {
		return ServerHome.HOST + ":" + this.network.port();
	}

	public ChaosProxy network() {
		return this.network;
	}

	public void start() {
		this.server = new KafkaRaftServer(KafkaConfig.fromProps(this.settings, false), Time.SYSTEM);
		this.server.startup();
	}

	public void stop() {
		this.server.shutdown();
		this.server.awaitShutdown();
	}

	@Override
	public void close() throws IOException {
		stop();
		this.network.close();
		ServerHome.delete(this.directory);
	}

	public void create(String topic) throws Exception {
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", address()))) {
			admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get(30, TimeUnit.SECONDS);
		}
	}

	/**
	 * All that is in a topic, each partition in its order.
	 */
	public List<ConsumerRecord<String, String>> read(String topic) {
		List<ConsumerRecord<String, String>> records = new ArrayList<>();
		Map<String, Object> settings = Map.of("bootstrap.servers", address());
		try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(),
				new StringDeserializer())) {
			List<TopicPartition> partitions = consumer.partitionsFor(topic)
				.stream()
				.map((partition) -> new TopicPartition(topic, partition.partition()))
				.toList();
			consumer.assign(partitions);
			consumer.seekToBeginning(partitions);
			long end = consumer.endOffsets(partitions).values().stream().mapToLong(Long::longValue).sum();
			long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
			while (records.size() < end && System.nanoTime() - deadline < 0) {
				consumer.poll(Duration.ofMillis(100)).forEach(records::add);
			}
		}
		return records;
	}

	/** Small: a test is no production. */
	private Properties settings() {
		Properties settings = new Properties();
		settings.putAll(Map.of("process.roles", "broker,controller", "node.id", "1", "log.dirs",
				this.directory.resolve("data").toString()));
		String proxied = ServerHome.HOST + ":" + this.network.target().getPort();
		String controller = ServerHome.HOST + ":" + (this.port + CONTROLLER);
		settings.putAll(Map.of("listeners",
				"PLAINTEXT://" + address() + ",PROXIED://" + proxied + ",CONTROLLER://" + controller,
				"advertised.listeners", "PLAINTEXT://" + address() + ",PROXIED://" + addressBehindTheNetwork(),
				"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT",
				"controller.listener.names", "CONTROLLER", "controller.quorum.voters", "1@" + controller));
		settings
			.putAll(Map.of("auto.create.topics.enable", "false", "log.cleaner.enable", "false", "num.network.threads",
					"1", "num.io.threads", "2", "background.threads", "2", "offsets.topic.replication.factor", "1"));
		return settings;
	}

}
