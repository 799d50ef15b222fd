package dev.ratelimit.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

import dev.ratelimit.Policy;
import dev.ratelimit.policy.PolicySet;
import dev.ratelimit.web.UrlLimit;
import dev.ratelimit.web.UrlLimits;

/**
 * Reloads the URL entries. An invalid one keeps its last valid version. A mistake
 * elsewhere under {@code ratelimit} keeps all of them, as it may be a misspelt
 * {@code urls}, which would take all limits away.
 */
public final class UrlReload implements ReloadedUrls {

	private static final Logger logger = LoggerFactory.getLogger("dev.ratelimit");

	private final UrlLimits limits;

	private final UrlMapper mapper;

	private final Supplier<PolicySet> policies;

	private final Environment environment;

	private final PropertyCheck check;

	public UrlReload(UrlLimits limits, UrlMapper mapper, Supplier<PolicySet> policies, Environment environment,
			PropertyCheck check) {
		this.limits = limits;
		this.mapper = mapper;
		this.policies = policies;
		this.environment = environment;
		this.check = check;
	}

	@Override
	public void reload(Consumer<String> warnings) {
		List<InvalidPolicyException> elsewhere = this.check.mistakes((warning) -> {
		}).stream().filter((mistake) -> mistake.policy() == null).map(PropertyCheck.Mistake::problem).toList();
		try {
			if (!elsewhere.isEmpty()) {
				throw PropertyCheck.all(elsewhere);
			}
			Map<String, UrlProperties> urls = Binder.get(this.environment)
				.bind(UrlMapper.AT, Bindable.mapOf(String.class, UrlProperties.class))
				.orElseGet(Map::of);
			replace(urls, warnings);
		}
		catch (RuntimeException ex) {
			warnings.accept(
					"'" + UrlMapper.AT + "' is not reloaded; the previous entries stay in force. " + ex.getMessage());
		}
	}

	@Override
	public Map<String, Object> documents() {
		return this.limits.documents();
	}

	private void replace(Map<String, UrlProperties> urls, Consumer<String> warnings) {
		Map<String, UrlLimit> before = new LinkedHashMap<>();
		this.limits.all().forEach((entry) -> before.put(entry.name(), entry));
		List<UrlLimit> after = new ArrayList<>();
		urls.forEach((name, url) -> {
			UrlLimit known = before.get(name);
			UrlLimit entry = known;
			try {
				entry = fitting(this.mapper.map(name, url));
			}
			catch (InvalidPolicyException ex) {
				warnings.accept("URL entry '" + name + "' is not reloaded; "
						+ ((known != null) ? "the previous one stays in force" : "there is no previous one") + ". "
						+ ex.getMessage());
			}
			if (entry != null) {
				after.add(entry);
			}
		});
		if (!after.equals(this.limits.all())) {
			this.limits.replace(after);
			logger.info("URL entries were reloaded: {}", names(after));
		}
	}

	private UrlLimit fitting(UrlLimit entry) {
		List<Policy> versions = this.policies.get().versions(entry.policy());
		if (versions.isEmpty()) {
			throw new InvalidPolicyException(UrlMapper.AT + "." + entry.name() + ".policy",
					"It names policy '" + entry.policy() + "', which does not exist.",
					suggestion(Nearest.of(entry.policy(), this.policies.get().ids())));
		}
		versions.forEach((policy) -> this.mapper.requireFitting(entry, policy));
		return entry;
	}

	private static String suggestion(@Nullable String nearest) {
		return (nearest != null) ? "Did you mean '" + nearest + "'?" : "Add it under 'ratelimit.policies'.";
	}

	private static String names(List<UrlLimit> entries) {
		return entries.isEmpty() ? "none" : entries.stream().map(UrlLimit::name).collect(Collectors.joining(", "));
	}

}
