package dev.ratelimit.benchmarks.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A line chart as SVG. The axes begin at zero and end at the largest value.
 */
public final class Plot {

	private static final int WIDTH = 760;

	private static final int HEIGHT = 320;

	private static final int MARGIN = 60;

	/** Seen apart by most people, also by those who see few colours. */
	private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
			"#56b4e9");

	private final String title;

	private final String x;

	private final String y;

	private final List<Line> lines = new ArrayList<>();

	/**
	 * Creates an empty chart.
	 * @param x name of the horizontal axis
	 * @param y name of the vertical axis
	 */
	public Plot(String title, String x, String y) {
		this.title = title;
		this.x = x;
		this.y = y;
	}

	/** Adds a line through points in the order of their first value. */
	public Plot line(String name, List<double[]> points) {
		this.lines.add(new Line(name, List.copyOf(points)));
		return this;
	}

	public void write(Path file) throws IOException {
		Files.writeString(file, svg());
	}

	String svg() {
		double right = largest(0);
		double top = largest(1);
		StringBuilder svg = new StringBuilder();
		svg.append(String.format(Locale.ROOT,
				"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">%n"
						+ "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
				WIDTH, HEIGHT + 20 * this.lines.size()));
		text(svg, WIDTH / 2, 20, "middle", this.title);
		text(svg, WIDTH / 2, HEIGHT - 10, "middle", this.x);
		text(svg, 5, 40, "start", this.y);
		svg.append(String.format(Locale.ROOT, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"black\"/>%n", MARGIN,
				MARGIN, HEIGHT - MARGIN, WIDTH - MARGIN));
		for (int tick = 0; tick <= 4; tick++) {
			text(svg, MARGIN - 5, at(tick / 4.0, HEIGHT - MARGIN, MARGIN) + 4, "end", number(top * tick / 4));
			text(svg, at(tick / 4.0, MARGIN, WIDTH - MARGIN), HEIGHT - MARGIN + 16, "middle", number(right * tick / 4));
		}
		for (int i = 0; i < this.lines.size(); i++) {
			draw(svg, this.lines.get(i), COLOURS.get(i % COLOURS.size()), right, top, HEIGHT + 20 * i + 5);
		}
		return svg.append("</svg>\n").toString();
	}

	private static void draw(StringBuilder svg, Line line, String colour, double right, double top, int legend) {
		StringBuilder points = new StringBuilder();
		for (double[] point : line.points()) {
			points.append(String.format(Locale.ROOT, "%.1f,%.1f ", at(point[0] / right, MARGIN, WIDTH - MARGIN),
					at(point[1] / top, HEIGHT - MARGIN, MARGIN)));
		}
		svg.append(String.format(Locale.ROOT,
				"<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n<path d=\"M%d %d h20\" stroke=\"%s\" stroke-width=\"2\"/>%n",
				points.toString().strip(), colour, MARGIN, legend, colour));
		text(svg, MARGIN + 26, legend + 4, "start", line.name());
	}

	private double largest(int axis) {
		double largest = this.lines.stream()
			.flatMap((line) -> line.points().stream())
			.mapToDouble((point) -> point[axis])
			.max()
			.orElse(1);
		return (largest > 0) ? largest : 1;
	}

	private static double at(double share, int from, int to) {
		return from + share * (to - from);
	}

	private static String number(double value) {
		return (value >= 10 || value == 0) ? String.format(Locale.ROOT, "%,.0f", value)
				: String.format(Locale.ROOT, "%.3g", value);
	}

	private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
		svg.append(String.format(Locale.ROOT, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>%n", x, y,
				anchor, text.replace("&", "&amp;").replace("<", "&lt;")));
	}

	private record Line(String name, List<double[]> points) {
	}

}
