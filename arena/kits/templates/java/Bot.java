import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** @NAME@: a bot in Java without any library. Print to System.err only: stdout belongs to the arena. */
public final class Bot {
    /** xorshift64 (Marsaglia 2003): small, and the same in every language. */
    private static final class Random {
        private long state;

        Random(long seed) {
            state = seed ^ 0x9E3779B97F4A7C15L;
        }

        int below(int limit) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            return (int) Long.remainderUnsigned(state >>> 11, limit);
        }
    }

    /**
     * Returns an action: here any of the legal ones.
     *
     * match says which "game" with which "options", and our "seat"; act holds the "observation", the list of "legal"
     * actions, and in "clock" how many "seconds" this action may take.
     */
    private static Object choose(Map<String, Object> match, Map<String, Object> act, Random random) {
        List<?> legal = (List<?>) act.get("legal");
        // YOUR IDEA GOES HERE: return the action you like best instead.
        return legal.get(random.below(legal.size()));
    }

    public static void main(String[] arguments) throws IOException {
        Wire wire = new Wire();
        Map<String, Object> match = Map.of();
        Random random = new Random(0);
        for (Map<String, Object> message; (message = wire.receive()) != null; ) {
            switch ((String) message.get("type")) {
                case "hello":
                    wire.send(map("type", "ready", "protocol", 1L, "name", "@NAME@"));
                    break;
                case "match": // begin afresh: the same process plays many matches
                    match = message;
                    random = new Random((Long) message.get("rng_seed"));
                    break;
                case "act":
                    wire.send(map("type", "action", "ply", message.get("ply"), "action", choose(match, message, random)));
                    break;
                case "quit":
                    return;
                default:
            }
        }
    }

    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int k = 0; k < keysAndValues.length; k += 2) map.put((String) keysAndValues[k], keysAndValues[k + 1]);
        return map;
    }
}
