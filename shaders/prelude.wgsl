// Prepended to every kernel, after the constants that the host bakes in:
//   LANES, ROWS   a "row kernel" gives LANES threads to one row and puts ROWS rows into a workgroup. LANES is 1 on
//                 software adapters, where a barrier costs more than the work that it would share out.
//   HEAD_VEC4     vec4s of one attention head (head_dim padded to a multiple of 4).
// Matrices are row-major with rows padded to a multiple of 4; padding holds zeros, in weights and activations alike.

// What changes with every batch. `items` counts the tokens that are processed: rows of any length, end to end.
struct Batch {
  items: u32,
  split: u32, // tokens summed up by one split of a weight gradient
  objective: u32, // 0 score only, 1 supervised, 2 GRPO
  alternatives: u32,
  temperature: f32,
  epsilon_low: f32,
  epsilon_high: f32,
  beta: f32,
}

// One token of a training or scoring batch, and what is asked about the token after it.
struct Item {
  token: u32,
  position: u32,
  first: u32, // its row is items [first, end)
  end: u32,
  goal: u32, // the next token's id
  flags: u32, // 1: the next token counts, 2: it has a reference log-probability
  weight: f32,
  advantage: f32,
  old: f32,
  reference: f32,
  unused0: u32,
  unused1: u32,
}

// One token of a decoding batch. For a prompt only the first three are read.
struct Cursor {
  token: u32,
  position: u32, // of `token` in its rollout
  slot: u32, // the rollout's place in the cache
  stream: u32,
  limit: u32, // the rollout ends when it has this many tokens
  done: u32,
  written: u32, // new tokens since the last readback
  source: u32, // the item whose hidden state predicts this rollout's next token
}

// The linear index of this workgroup: grids are folded over y, past 65,535 workgroups.
fn linear_group(group: vec3u, groups: vec3u) -> u32 {
  return group.x + group.y * groups.x;
}

// NaN and infinity by their bits: comparisons with NaN may be optimised away.
fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

// exp(x) − 1 without the cancellation near 0.
fn expm1(x: f32) -> f32 {
  if (abs(x) > 0.1) { return exp(x) - 1.0; }
  return x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * 0.0083333338))));
}

fn silu(x: vec4f) -> vec4f {
  return x / (1.0 + exp(min(-x, vec4f(80.0))));
}

var<workgroup> row_scratch: array<f32, LANES * ROWS>;
var<workgroup> row_scratch_id: array<u32, LANES * ROWS>;

// Sum over the lanes of a row, in lane order, the same for all of them. Uniform control flow only.
fn row_sum(value: f32, local: vec3u) -> f32 {
  if (LANES == 1u) { return value; }
  let base = local.y * LANES;
  row_scratch[base + local.x] = value;
  workgroupBarrier();
  var total = 0.0;
  for (var i = 0u; i < LANES; i++) { total += row_scratch[base + i]; }
  workgroupBarrier();
  return total;
}

fn row_max(value: f32, local: vec3u) -> f32 {
  if (LANES == 1u) { return value; }
  let base = local.y * LANES;
  row_scratch[base + local.x] = value;
  workgroupBarrier();
  var most = row_scratch[base];
  for (var i = 1u; i < LANES; i++) { most = max(most, row_scratch[base + i]); }
  workgroupBarrier();
  return most;
}

fn row_min_id(value: u32, local: vec3u) -> u32 {
  if (LANES == 1u) { return value; }
  let base = local.y * LANES;
  row_scratch_id[base + local.x] = value;
  workgroupBarrier();
  var least = row_scratch_id[base];
  for (var i = 1u; i < LANES; i++) { least = min(least, row_scratch_id[base + i]); }
  workgroupBarrier();
  return least;
}
