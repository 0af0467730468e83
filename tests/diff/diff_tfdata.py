# SPDX-License-Identifier: MIT
"""What tf.data's documentation shows: its expression, ours, and its answer. In
answers tuples are lists, and tensors nested lists."""
from harness import check

X6 = "elements [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]"
ROWS = [
    # tf.data.Dataset
    ("from_tensor_slices([1, 2, 3])", "elements [1, 2, 3]", [1, 2, 3]),
    ("from_tensor_slices([[1, 2], [3, 4]])", "elements [[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
    ("from_tensor_slices({'a': [1, 2], 'b': [3, 4]})", "elements [{a: [1, 2], b: [3, 4]}] | unbatch", [{"a": 1, "b": 3}, {"a": 2, "b": 4}]),
    ("from_tensors([1, 2, 3])", "elements [[1, 2, 3]]", [[1, 2, 3]]),
    ("from_tensors(([1, 2, 3], 'A'))", "elements [[[1, 2, 3], \"A\"]]", [[[1, 2, 3], "A"]]),
    ("range(5)", "range 5", [0, 1, 2, 3, 4]),
    ("range(2, 5)", "range 2 5", [2, 3, 4]),
    ("range(1, 5, 2)", "range 1 5 2", [1, 3]),
    ("range(1, 5, -2)", "range 1 5 -2", []),
    ("range(5, 1)", "range 5 1", []),
    ("range(5, 1, -2)", "range 5 1 -2", [5, 3]),
    ("counter().take(5)", "counter | take 5", [0, 1, 2, 3, 4]),
    ("counter(start=1).take(5)", "counter 1 | take 5", [1, 2, 3, 4, 5]),
    ("counter(step=2).take(5)", "counter 0 2 | take 5", [0, 2, 4, 6, 8]),
    ("counter(start=1, step=5).take(5)", "counter 1 5 | take 5", [1, 6, 11, 16, 21]),
    ("counter(start=10, step=-1).take(5)", "counter 10 -1 | take 5", [10, 9, 8, 7, 6]),
    ("range(100).apply(filter(x < 5))", "let f = | filter x < 5\nrange 100 | f", [0, 1, 2, 3, 4]),
    ("range(8).batch(3)", "range 8 | batch 3", [[0, 1, 2], [3, 4, 5], [6, 7]]),
    ("range(8).batch(3, drop_remainder=True)", "range 8 | batch 3 drop_remainder=true", [[0, 1, 2], [3, 4, 5]]),
    ("bucket_by_sequence_length([3, 5], [2, 2, 2])", X6 + " | bucket len(x) bounds=[3, 5] sizes=[2, 2, 2]",
     [[[1, 2, 3, 4], [5, 6, 7, 0]], [[7, 8, 9, 10, 11, 0], [13, 14, 15, 16, 19, 20]], [[0, 0], [21, 22]]]),
    ("range(5).map(x ** 2).cache().repeat(2)", "range 5 | map x**2 | cache | repeat 2", [0, 1, 4, 9, 16] * 2),
    ("choose_from_datasets([foo, bar, baz], range(3).repeat(3))",
     "choose (elements [\"foo\"] | repeat) (elements [\"bar\"] | repeat) (elements [\"baz\"] | repeat) by=(range 3 | repeat 3)", ["foo", "bar", "baz"] * 3),
    ("range(1, 4).concatenate(range(4, 8))", "concat (range 1 4) (range 4 8)", [1, 2, 3, 4, 5, 6, 7]),
    ("from_tensor_slices([1, 2, 3]).enumerate(start=5)", "elements [1, 2, 3] | enumerate 5", [[5, 1], [6, 2], [7, 3]]),
    ("from_tensor_slices([(7, 8), (9, 10)]).enumerate()", "elements [[7, 8], [9, 10]] | enumerate", [[0, [7, 8]], [1, [9, 10]]]),
    ("from_tensor_slices([1, 2, 3]).filter(x < 3)", "elements [1, 2, 3] | filter x < 3", [1, 2]),
    ("from_tensor_slices([1, 2, 3]).filter(equal(x, 1))", "elements [1, 2, 3] | filter x == 1", [1]),
    ("from_tensor_slices([[1, 2, 3], [4, 5, 6], [7, 8, 9]]).flat_map(from_tensor_slices)", "elements [[1, 2, 3], [4, 5, 6], [7, 8, 9]] | flat_map x", list(range(1, 10))),
    ("range(10).group_by_window(x % 2, batch(5), 5)", "range 10 | group_by_window x % 2 5 (| batch 5)", [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]),
    ("from_tensor_slices([1., 2., 0., 4.]).map(check_numerics(1. / x)).ignore_errors()", "elements [1.0, 2.0, 0.0, 4.0] | map 1.0 / x | ignore_errors", [1.0, 0.5, 0.25]),
    ("range(1, 6).interleave(from_tensors(x).repeat(6), cycle_length=2, block_length=4)", "range 1 6 | interleave (range 6 | map xx) cycle=2 block=4",
     [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5]),
    ("range(1, 6).map(x + 1)", "range 1 6 | map x + 1", [2, 3, 4, 5, 6]),
    ("range(5).map(ndarray [1, 2, 3, 4])", "range 2 | map [1, 2]", [[1, 2], [1, 2]]),
    ("range(1, 5).map(fill([x], x)).padded_batch(2)", "elements [[1], [2, 2], [3, 3, 3], [4, 4, 4, 4]] | padded_batch 2",
     [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]),
    (".padded_batch(2, padded_shapes=5)", "elements [[1], [2, 2], [3, 3, 3], [4, 4, 4, 4]] | padded_batch 2 shape=[5]",
     [[[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]]]),
    (".padded_batch(2, padded_shapes=5, padding_values=-1)", "elements [[1], [2, 2], [3, 3, 3], [4, 4, 4, 4]] | padded_batch 2 shape=[5] pad=-1",
     [[[1, -1, -1, -1, -1], [2, 2, -1, -1, -1]], [[3, 3, 3, -1, -1], [4, 4, 4, 4, -1]]]),
    ("range(3).prefetch(2)", "range 3 | prefetch 2", [0, 1, 2]),
    ("range(6).map(range).ragged_batch(2)", "range 6 | map range(x) | ragged_batch 2", [[[], [0]], [[0, 1], [0, 1, 2]], [[0, 1, 2, 3], [0, 1, 2, 3, 4]]]),
    ("range(6).batch(2).rebatch(3)", "range 6 | batch 2 | rebatch 3", [[0, 1, 2], [3, 4, 5]]),
    ("range(8).batch(4).rebatch(3, drop_remainder=True)", "range 8 | batch 4 | rebatch 3 drop_remainder=true", [[0, 1, 2], [3, 4, 5]]),
    ("range(5).reduce(0, state + 1)", "range 5 | reduce 0 s + 1", [5]),
    ("range(5).reduce(0, state + value)", "range 5 | reduce 0 s + x", [10]),
    ("from_tensor_slices([1, 2, 3]).repeat(3)", "elements [1, 2, 3] | repeat 3", [1, 2, 3] * 3),
    ("range(10).scan(0, state + x)", "range 10 | scan 0 s + x", [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]),
    ("range(10).shard(num_shards=3, index=0)", "range 10 | shard 3 0", [0, 3, 6, 9]),
    ("range(10).skip(7)", "range 10 | skip 7", [7, 8, 9]),
    ("range(10).take(3)", "range 10 | take 3", [0, 1, 2]),
    ("range(10).take_while(x < 5)", "range 10 | take_while x < 5", [0, 1, 2, 3, 4]),
    ("[[1, 2, 3], [1, 2], [1, 2, 3, 4]].unbatch()", "elements [[1, 2, 3], [1, 2], [1, 2, 3, 4]] | unbatch", [1, 2, 3, 1, 2, 1, 2, 3, 4]),
    ("from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()", "elements [1, 37, 2, 37, 2, 1] | unique | sort", [1, 2, 37]),
    ("range(7).window(3)", "range 7 | window 3", [[0, 1, 2], [3, 4, 5], [6]]),
    ("range(7).window(3, shift=1, drop_remainder=True)", "range 7 | window 3 shift=1 drop_remainder=true", [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]),
    ("range(7).window(3, shift=1, stride=2, drop_remainder=True)", "range 7 | window 3 shift=1 stride=2 drop_remainder=true", [[0, 2, 4], [1, 3, 5], [2, 4, 6]]),
    ("range(7).window(2, shift=4)", "range 7 | window 2 shift=4", [[0, 1], [4, 5]]),
    ("zip((range(1, 4), range(4, 7)))", "zip (range 1 4) (range 4 7)", [[1, 4], [2, 5], [3, 6]]),
    ("zip((b, a))", "zip (range 4 7) (range 1 4)", [[4, 1], [5, 2], [6, 3]]),
    ("zip((a, (b, a)))", "zip (range 1 4) (zip (range 4 7) (range 1 4))", [[1, [4, 1]], [2, [5, 2]], [3, [6, 3]]]),
    ("zip((a, b, range(7, 13).batch(2)))", "zip (range 1 4) (range 4 7) (range 7 13 | batch 2)", [[1, 4, [7, 8]], [2, 5, [9, 10]], [3, 6, [11, 12]]]),
    ("zip((a, range(13, 15)))", "zip (range 1 4) (range 13 15)", [[1, 13], [2, 14]]),
    ("range(2).save(path), load(path)", None, [0, 1]),
    ("range(5).snapshot(path)", None, [0, 1, 2, 3, 4]),
    # tf.data.experimental
    ("assert_cardinality(42)", "range 42 | cardinality 42 | count", [42]),
    ("group_by_reducer(x % 2, sum)", "range 10 | group_by x % 2 init=0 reduce=(s + x) | map .value", [20, 25]),
    ("dense_to_ragged_batch(2)", "range 6 | map range(x) | ragged_batch 2 | take 1", [[[], [0]]]),
    ("parallel_interleave(cycle_length=2, block_length=1)", "elements [[1, 2], [3, 4]] | interleave (range 2 | map xx[x]) cycle=2 block=1", [1, 3, 2, 4]),
    # the guide "Better performance with tf.data" and "Build TensorFlow input pipelines"
    ("zip((from_tensor_slices(10x10).., batch", "zip a=(range 4) b=(range 4 | map -x) | batch 2", [{"a": [0, 1], "b": [0, -1]}, {"a": [2, 3], "b": [-2, -3]}]),
    ("range(20).batch(10).map(dense_1_step: batch[:-1], batch[1:])", "range 20 | batch 10 | map [x[:-1], x[1:]] | take 1", [[list(range(9)), list(range(1, 10))]]),
    ("range(100).window(5, shift=1).flat_map(batch(5)).take(2)", "range 100 | window 5 shift=1 drop_remainder=true | take 2", [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]),
    ("range(10).window(3, shift=5, stride=2) of the guide's make_window_dataset", "range 20 | window 3 shift=5 stride=2 drop_remainder=true | take 3", [[0, 2, 4], [5, 7, 9], [10, 12, 14]]),
]
# As TF_CONFIG has it: every element of a weighted choice comes from one of them, in its order.
DRAWN = [("sample (range 10) (range 100 200) weights=[0.5, 0.5]", 110), ("sample (range 10) (range 100 200) weights=[1.0, 0.0] stop=first", 10)]


@check()
def tfdata(t):
    for theirs, ours, want in ROWS:
        if ours:
            t.same(t.values(ours), want, f"{theirs}\n  {ours}")
            if "repeat)" not in ours:
                t.same(t.values(ours, args=("-j", "2")), want, f"{theirs}\n  -j 2 {ours}")


@check()
def tfdata_files(t):
    saved = t.path("saved")
    t.values(f"range 2 | save {saved}")
    t.same(t.values(f"load {saved}"), [0, 1], "save, load")
    kept = t.path("kept")
    for _ in range(2):  # the second comes from the files
        t.same(t.values(f"range 5 | snapshot {kept}"), [0, 1, 2, 3, 4], "snapshot")
    lines = t.file("lines.txt", "jack\nof\nall\n")
    t.same(t.values(f"lines {lines} | map len(x)"), [4, 2, 3], "TextLineDataset")
    table = t.file("t.csv", "1.5,2,a\n3,4,b\n")
    t.same(t.values(f"csv {table} header=false"), [[1.5, 2, "a"], [3, 4, "b"]], "CsvDataset")


@check()
def tfdata_drawn(t):
    for spec, n in DRAWN:
        got = t.values(spec)
        t.same(len(got), n, spec)
        t.same([v for v in got if v < 100], list(range(10)), spec)
        t.same([v for v in got if v >= 100], list(range(100, 100 + n - 10)), spec)
    # rejection_resample(class, target=[.5, .5], initial=[.6, .4]): the proportions of its page
    spec = "range 5000 | map x % 5 < 3 ? 0 : 1 | resample x target=[0.5, 0.5] initial=[0.6, 0.4]"
    got = t.values(spec)
    t.same(0.45 < got.count(0) / len(got) < 0.55 and got.count(1) > 1900, True, spec)
