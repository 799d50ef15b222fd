package com.example.clinic;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class VetController {

	@GetMapping("/vets")
	List<String> vets() {
		return List.of("James Carter", "Helen Leary");
	}

	@GetMapping("/oups")
	void crash() {
		throw new IllegalStateException("expected");
	}

}
