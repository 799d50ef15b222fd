package dev.ratelimit.aop

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.reactor.awaitSingle
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController
import reactor.core.publisher.Mono

/** Handlers as Kotlin applications write them. */
@RestController
open class SuspendingController {

	@GetMapping("/suspend")
	@RateLimited("orders")
	open suspend fun suspending(): String = Mono.just("done").awaitSingle()

	@GetMapping("/suspend/{id}")
	@RateLimited(policy = "accounts", cost = "#size", key = "#id")
	open suspend fun order(@PathVariable id: String, @RequestParam size: Int): String = "done"

	@GetMapping("/flow")
	@RateLimited("orders")
	open fun flow(): Flow<String> = flowOf("done")

	@GetMapping("/suspend-flow")
	@RateLimited("orders")
	open suspend fun suspendingFlow(): Flow<String> = flowOf("done")

	@GetMapping("/kotlin")
	@RateLimited("orders")
	open fun plain(): String = "done"

}
