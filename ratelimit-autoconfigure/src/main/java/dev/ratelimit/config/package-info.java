/**
 * Properties and documents become policies, or a failure that names the field and the
 * fix.
 * <ul>
 * <li>properties: {@link RateLimitProperties} with {@link PolicyProperties},
 * {@link DimensionProperties} and {@link UrlProperties}</li>
 * <li>to policies: {@link PolicyMapper} with {@link PolicyParts}, {@link DimensionMapper}
 * and {@link UrlMapper}; {@link PolicyDocuments} for those written at run time, bound by
 * {@link DocumentBinder} over a {@link RecordShape}, upgraded by {@link EarlierPolicy}
 * and shown by {@link PolicyDocument}</li>
 * <li>checks: {@link PropertyCheck} with {@link PropertyNames}, {@link PropertyMetadata},
 * {@link RequiredClasses} and {@link ServiceVariables}; {@link FieldRules},
 * {@link Nearest} and {@link PolicyWarnings}; {@link InvalidPolicyException} with
 * {@link InvalidPolicyFailureAnalyzer}</li>
 * <li>reloads: {@link PolicyRefresh} reads by {@link ConfigurationReader};
 * {@link UrlReload} as {@link ReloadedUrls}</li>
 * <li>beans: {@link RateLimitRefreshAutoConfiguration}</li>
 * </ul>
 */
@NullMarked
package dev.ratelimit.config;

import org.jspecify.annotations.NullMarked;
