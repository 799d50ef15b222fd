package com.example.clinic;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * An application of somebody else, with no type of ours.
 */
@SpringBootApplication
public class Clinic {

	public static void main(String[] arguments) {
		SpringApplication.run(Clinic.class, arguments);
	}

}
