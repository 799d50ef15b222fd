package dev.ratelimit.benchmarks.experiment;

import java.util.List;

/**
 * Where a curve bends most: the point with the largest distance to the line from the
 * first point to the last, both axes scaled to the same length.
 */
final class Knee {

	private Knee() {
	}

	/**
	 * Its position.
	 * @param points at least one
	 */
	static int of(List<double[]> points) {
		double[] first = points.get(0);
		double[] last = points.get(points.size() - 1);
		double width = range(points, 0);
		double height = range(points, 1);
		double dx = (last[0] - first[0]) / width;
		double dy = (last[1] - first[1]) / height;
		int knee = 0;
		double farthest = -1;
		for (int i = 0; i < points.size(); i++) {
			double x = (points.get(i)[0] - first[0]) / width;
			double y = (points.get(i)[1] - first[1]) / height;
			double distance = Math.abs(dy * x - dx * y);
			if (distance > farthest) {
				farthest = distance;
				knee = i;
			}
		}
		return knee;
	}

	private static double range(List<double[]> points, int axis) {
		double low = points.stream().mapToDouble((point) -> point[axis]).min().orElseThrow();
		double high = points.stream().mapToDouble((point) -> point[axis]).max().orElseThrow();
		return (high > low) ? high - low : 1;
	}

}
