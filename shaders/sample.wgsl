// Draws each unfinished rollout's next token from its row of logits, and moves its cursor on.
// The law: softmax(logits / temperature) without banned ids, after top-k, after top-p. The token is the smallest id
// whose cumulative mass, ids ascending, exceeds u · total. Temperature 0: the largest logit, lowest id, log-prob 0.
// logits [rows, width], of which `vocab` columns are ids; flags [width]: 1 no mass, 2 ends the rollout.
// drawn [rows, 2 · chunk]: id, bits of the log-probability under that law. One row kernel, ids in segments a lane.
struct Sampling {
  seed: u32, step: u32, top_k: u32, chunk: u32, vocab: u32, width: u32,
  temperature: f32,
  top_p: f32,
}

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> sampling: Sampling;
@group(0) @binding(2) var<storage, read> flags: array<u32>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read_write> cursors: array<Cursor>;
@group(0) @binding(5) var<storage, read_write> drawn: array<u32>;

// PCG4D: Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 2020. Bit for bit as in src/policy/random.ts.
fn pcg4d(key: vec4u) -> vec4u {
  var v = key * 1664525u + 1013904223u;
  v.x += v.y * v.w;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v.w += v.y * v.z;
  v ^= v >> vec4u(16u);
  v.x += v.y * v.w;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v.w += v.y * v.z;
  return v;
}

// 23 bits and a half: never 0, never 1, exact in f32.
fn uniform_number(stream: u32, position: u32) -> f32 {
  return (f32(pcg4d(vec4u(sampling.seed, sampling.step, stream, position)).x >> 9u) + 0.5) * 1.1920928955078125e-7;
}

// Whole numbers in the order of the floats; 0 stands for "no mass".
fn order(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  return select(bits | 0x80000000u, ~bits, bits > 0x7fffffffu);
}

fn key_of(base: u32, j: u32) -> u32 {
  if ((flags[j] & 1u) == 1u) { return 0u; }
  // −0 and 0 are the same logit.
  return order(logits[base + j] + 0.0);
}

@compute @workgroup_size(LANES, ROWS)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let row = linear_group(group, groups) * ROWS + local.y;
  let safe = min(row, batch.items - 1u);
  let base = safe * sampling.width;
  let segment = (sampling.vocab + LANES - 1u) / LANES;
  let begin = min(local.x * segment, sampling.vocab);
  let end = min(begin + segment, sampling.vocab);
  let greedy = sampling.temperature == 0.0;
  let temperature = select(sampling.temperature, 1.0, greedy);

  var top = -3.4028234e38;
  var top_id = sampling.vocab;
  for (var j = begin; j < end; j++) {
    if ((flags[j] & 1u) == 0u && logits[base + j] > top) {
      top = logits[base + j];
      top_id = j;
    }
  }
  let most = row_max(top, local);
  let best = row_min_id(select(sampling.vocab, top_id, top == most), local);

  // The K-th largest logit, bit by bit: the largest key that at least K ids reach.
  var least = 1u;
  if (sampling.top_k > 0u && sampling.top_k < sampling.vocab) {
    var threshold = 0u;
    for (var bit = 0u; bit < 32u; bit++) {
      let candidate = threshold | (0x80000000u >> bit);
      var reach = 0.0;
      for (var j = begin; j < end; j++) { reach += select(0.0, 1.0, key_of(base, j) >= candidate); }
      if (u32(row_sum(reach, local)) >= sampling.top_k) { threshold = candidate; }
    }
    least = max(least, threshold);
  }
  // An id is kept while less than top_p of the mass is more probable. So the threshold is the largest key that
  // still has top_p of the mass at or above it.
  if (sampling.top_p < 1.0) {
    var whole = 0.0;
    for (var j = begin; j < end; j++) {
      if (key_of(base, j) >= least) { whole += exp((logits[base + j] - most) / temperature); }
    }
    let bound = row_sum(whole, local) * sampling.top_p;
    var heavy = 0u;
    for (var bit = 0u; bit < 32u; bit++) {
      let candidate = heavy | (0x80000000u >> bit);
      var reach = 0.0;
      for (var j = begin; j < end; j++) {
        let key = key_of(base, j);
        if (key >= least && key >= candidate) { reach += exp((logits[base + j] - most) / temperature); }
      }
      if (row_sum(reach, local) >= bound) { heavy = candidate; }
    }
    // The most probable id always stays, whatever top_p and rounding say.
    least = max(least, min(heavy, order(most + 0.0)));
  }

  var mass = 0.0;
  var last = 0u;
  for (var j = begin; j < end; j++) {
    if (key_of(base, j) >= least) {
      let e = exp((logits[base + j] - most) / temperature);
      mass += e;
      if (e > 0.0) { last = j + 1u; }
    }
  }
  let cursor = cursors[safe];
  let total = row_sum(mass, local);
  let goal = uniform_number(cursor.stream, cursor.position + 1u) * total;
  // Mass of the lanes before this one, in their order.
  var reached = 0.0;
  if (LANES > 1u) {
    row_scratch[local.y * LANES + local.x] = mass;
    workgroupBarrier();
    for (var i = 0u; i < local.x; i++) { reached += row_scratch[local.y * LANES + i]; }
    workgroupBarrier();
  }
  var found = sampling.vocab;
  for (var j = begin; j < end; j++) {
    if (key_of(base, j) >= least) {
      reached += exp((logits[base + j] - most) / temperature);
      if (reached > goal) {
        found = j;
        break;
      }
    }
  }
  found = row_min_id(found, local);
  let fallback = u32(row_max(f32(last), local));
  if (row >= batch.items || local.x > 0u || cursor.done == 1u) { return; }

  if (found == sampling.vocab) { found = max(fallback, 1u) - 1u; }
  var log_prob = 0.0;
  if (greedy) {
    found = min(best, sampling.vocab - 1u);
  } else {
    log_prob = (logits[base + found] - most) / temperature - log(total);
  }
  let at = (row * sampling.chunk + cursor.written) * 2u;
  drawn[at] = found;
  drawn[at + 1u] = bitcast<u32>(log_prob);
  cursors[row].written = cursor.written + 1u;
  if ((flags[found] & 2u) == 2u || cursor.position + 2u >= cursor.limit) {
    cursors[row].done = 1u;
    return;
  }
  cursors[row].token = found;
  cursors[row].position = cursor.position + 1u;
}
