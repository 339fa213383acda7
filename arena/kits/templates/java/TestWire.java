import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The codec against the golden frames. */
public final class TestWire {
    private static String show(Object value) {
        if (value instanceof String) return "\"" + value + "\"";
        if (value instanceof List) return ((List<?>) value).stream().map(TestWire::show).collect(Collectors.joining(",", "[", "]"));
        if (value instanceof Map)
            return ((Map<?, ?>) value).entrySet().stream()
                .map(pair -> show(pair.getKey()) + ":" + show(pair.getValue())).collect(Collectors.joining(",", "{", "}"));
        return String.valueOf(value);
    }

    public static void main(String[] arguments) throws Exception {
        int count = 0;
        for (String line : Files.readAllLines(Path.of("golden_frames.txt"))) {
            if (line.isEmpty() || line.startsWith("#")) continue;
            String[] parts = line.split(" ", 3);
            byte[] frame = new byte[parts[1].length() / 2];
            for (int k = 0; k < frame.length; k++) frame[k] = (byte) Integer.parseInt(parts[1].substring(2 * k, 2 * k + 2), 16);
            Object value = Wire.decode(ByteBuffer.wrap(frame, 4, frame.length - 4).slice());
            if (!show(value).equals(parts[2])) throw new AssertionError(parts[0] + ": read as " + show(value));
            if (!Arrays.equals(Wire.frame(value), frame)) throw new AssertionError(parts[0] + ": written differently");
            count++;
        }
        if (count == 0) throw new AssertionError("no frames");
        System.out.println(count + " frames are read and written as they should be");
    }
}
