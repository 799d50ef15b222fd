package com.example.clinic;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/owners")
class OwnerController {

	private final Map<Integer, Owner> owners = new ConcurrentHashMap<>();

	private final AtomicInteger ids = new AtomicInteger();

	@GetMapping
	List<Owner> all() {
		return List.copyOf(this.owners.values());
	}

	@GetMapping("/{id}")
	Owner one(@PathVariable int id) {
		Owner owner = this.owners.get(id);
		if (owner == null) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND);
		}
		return owner;
	}

	@PostMapping
	@ResponseStatus(HttpStatus.CREATED)
	Owner add(@RequestBody Owner owner) {
		Owner added = new Owner(this.ids.incrementAndGet(), owner.name());
		this.owners.put(added.id(), added);
		return added;
	}

	record Owner(int id, String name) {

	}

}
