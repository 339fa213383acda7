import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Frames of msgpack on stdin and stdout. A value is null, Boolean, Long, Double, String, List or Map. */
final class Wire {
    private final DataInputStream input = new DataInputStream(new BufferedInputStream(System.in));
    private final OutputStream output = System.out;

    /** Returns the next message, or null when the arena has gone. */
    @SuppressWarnings("unchecked")
    Map<String, Object> receive() throws IOException {
        try {
            byte[] body = new byte[input.readInt()];
            input.readFully(body);
            return (Map<String, Object>) decode(ByteBuffer.wrap(body));
        } catch (EOFException gone) {
            return null;
        }
    }

    void send(Map<String, ?> message) throws IOException {
        output.write(frame(message));
        output.flush();
    }

    static byte[] frame(Object message) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        encode(message, new DataOutputStream(body));
        return ByteBuffer.allocate(4 + body.size()).putInt(body.size()).put(body.toByteArray()).array();
    }

    static Object decode(ByteBuffer in) {
        int tag = in.get() & 0xff;
        if (tag < 0x80) return (long) tag;
        if (tag < 0x90) return map(in, tag & 0x0f);
        if (tag < 0xa0) return list(in, tag & 0x0f);
        if (tag < 0xc0) return text(in, tag & 0x1f);
        if (tag >= 0xe0) return (long) (byte) tag;
        switch (tag) {
            case 0xc0: return null;
            case 0xc2: return false;
            case 0xc3: return true;
            case 0xca: return (double) in.getFloat();
            case 0xcb: return in.getDouble();
            case 0xcc: case 0xcd: case 0xce: case 0xcf: return number(in, 1 << (tag - 0xcc));
            case 0xd0: return (long) in.get();
            case 0xd1: return (long) in.getShort();
            case 0xd2: return (long) in.getInt();
            case 0xd3: return in.getLong();
            case 0xd9: case 0xda: case 0xdb: return text(in, (int) number(in, 1 << (tag - 0xd9)));
            case 0xdc: case 0xdd: return list(in, number(in, 2 << (tag - 0xdc)));
            case 0xde: case 0xdf: return map(in, number(in, 2 << (tag - 0xde)));
            default: throw new IllegalArgumentException("a kind of value that the arena does not use");
        }
    }

    private static long number(ByteBuffer in, int bytes) {
        long sum = 0;
        while (bytes-- > 0) sum = sum << 8 | in.get() & 0xff;
        return sum;
    }

    private static String text(ByteBuffer in, int bytes) {
        byte[] text = new byte[bytes];
        in.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static List<Object> list(ByteBuffer in, long count) {
        List<Object> items = new ArrayList<>();
        while (count-- > 0) items.add(decode(in));
        return items;
    }

    private static Map<String, Object> map(ByteBuffer in, long count) {
        Map<String, Object> pairs = new LinkedHashMap<>();
        while (count-- > 0) pairs.put((String) decode(in), decode(in));
        return pairs;
    }

    private static void encode(Object value, DataOutputStream out) throws IOException {
        if (value == null) out.write(0xc0);
        else if (value instanceof Boolean) out.write((Boolean) value ? 0xc3 : 0xc2);
        else if (value instanceof Double) { out.write(0xcb); out.writeDouble((Double) value); }
        else if (value instanceof Number) integer(((Number) value).longValue(), out);
        else if (value instanceof String) {
            byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
            size(text.length, 0xa0, 32, 0xd9, 0xda, out);
            out.write(text);
        } else if (value instanceof List) {
            size(((List<?>) value).size(), 0x90, 16, 0, 0xdc, out);
            for (Object item : (List<?>) value) encode(item, out);
        } else {
            size(((Map<?, ?>) value).size(), 0x80, 16, 0, 0xde, out);
            for (Map.Entry<?, ?> pair : ((Map<?, ?>) value).entrySet()) { encode(pair.getKey(), out); encode(pair.getValue(), out); }
        }
    }

    private static void size(int n, int small, int below, int one, int two, DataOutputStream out) throws IOException {
        if (n < below) out.write(small | n);
        else if (one != 0 && n < 256) { out.write(one); out.write(n); }
        else if (n < 65536) { out.write(two); out.writeShort(n); }
        else { out.write(two + 1); out.writeInt(n); }
    }

    private static void integer(long i, DataOutputStream out) throws IOException {
        if (i >= -32 && i < 128) out.write((int) i);
        else if (i >= 0 && i < 256) { out.write(0xcc); out.write((int) i); }
        else if (i >= 0 && i < 65536) { out.write(0xcd); out.writeShort((int) i); }
        else if (i >= 0 && i < 1L << 32) { out.write(0xce); out.writeInt((int) i); }
        else if (i >= 0) { out.write(0xcf); out.writeLong(i); }
        else if (i >= Byte.MIN_VALUE) { out.write(0xd0); out.write((int) i); }
        else if (i >= Short.MIN_VALUE) { out.write(0xd1); out.writeShort((int) i); }
        else if (i >= Integer.MIN_VALUE) { out.write(0xd2); out.writeInt((int) i); }
        else { out.write(0xd3); out.writeLong(i); }
    }
}
