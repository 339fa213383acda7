import multiprocessing
from multiprocessing import shared_memory

from _wire import answer, play, send


def double(number):
    return 2 * number


def use(message):
    with multiprocessing.Pool(2) as pool:
        assert pool.map(double, range(4)) == [0, 2, 4, 6]
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=queue.put, args=("said",))
    child.start()
    assert queue.get() == "said"
    child.join()
    memory = shared_memory.SharedMemory(create=True, size=1_000_000)
    memory.buf[0] = 1
    memory.close()
    memory.unlink()
    send(answer(message))


if __name__ == "__main__":
    play(use)
