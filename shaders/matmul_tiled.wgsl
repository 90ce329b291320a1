// y = a · b in one of three layouts, tiled in workgroup memory: 32 × 64 outputs a workgroup, 4 × 8 a thread: for GPUs.
// Layouts, options, sizes and the order of every sum are those of matmul_registers.wgsl.
struct Dims {
  i: u32, // rows of y, where they are not tokens
  j: u32,
  p: u32,
  first: u32, // first token, where a batch is worked off in parts
  most: u32, // tokens of a part
  stride: u32, // vec4s from one split's sums to the next's
  splits: u32,
  size: f32, // unpadded columns of a, for the mean of squares
  epsilon: f32,
}

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> a: array<vec4f>;
@group(0) @binding(3) var<storage, read> b: array<vec4f>;
@group(0) @binding(4) var<storage, read> extra: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4f>;

const TILE_I = 32u;
const TILE_J = 64u;
const TILE_P = 16u;

// As they lie in a and b: [i][p / 4] or [p][i / 4]; [j][p / 4] or [p][j / 4].
var<workgroup> tile_a: array<vec4f, 128>;
var<workgroup> tile_b: array<vec4f, 256>;

fn load_a(slot: u32, i: u32, p: u32, rows: u32, end: u32) {
  var value = vec4f(0.0);
  if (A_ALONG_P) {
    let row = i + slot / 4u;
    let at = p + (slot % 4u) * 4u;
    if (row < rows && at < end) { value = a[(row * dims.p + at) / 4u]; }
  } else {
    let row = p + slot / 8u;
    let at = i + (slot % 8u) * 4u;
    if (row < end && at < rows) { value = a[(row * dims.i + at) / 4u]; }
  }
  tile_a[slot] = value;
}

fn load_b(slot: u32, j: u32, p: u32, end: u32) {
  var value = vec4f(0.0);
  if (B_ALONG_P) {
    let row = j + slot / 4u;
    let at = p + (slot % 4u) * 4u;
    if (row < dims.j && at < end) { value = b[(row * dims.p + at) / 4u]; }
  } else {
    let row = p + slot / 16u;
    let at = j + (slot % 16u) * 4u;
    if (row < end && at < dims.j) { value = b[(row * dims.j + at) / 4u]; }
  }
  tile_b[slot] = value;
}

// p..p+3 (components) of the thread's four rows.
fn block_of_a(q: u32, row: u32) -> mat4x4f {
  if (A_ALONG_P) {
    let at = row * 16u + q;
    return mat4x4f(tile_a[at], tile_a[at + 4u], tile_a[at + 8u], tile_a[at + 12u]);
  }
  let at = q * 32u + row;
  return transpose(mat4x4f(tile_a[at], tile_a[at + 8u], tile_a[at + 16u], tile_a[at + 24u]));
}

// Columns p..p+3 over four of the thread's j; `half` picks the first or the last four.
fn block_of_b(q: u32, column: u32, half: u32) -> mat4x4f {
  if (B_ALONG_P) {
    let at = (column * 8u + half * 4u) * 4u + q;
    return transpose(mat4x4f(tile_b[at], tile_b[at + 4u], tile_b[at + 8u], tile_b[at + 12u]));
  }
  let at = q * 64u + column * 2u + half;
  return mat4x4f(tile_b[at], tile_b[at + 16u], tile_b[at + 32u], tile_b[at + 48u]);
}

fn store(i: u32, j: u32, rows: u32, split: u32, left: vec4f, right: vec4f, squares: f32) {
  if (i >= rows) { return; }
  var l = left;
  var r = right;
  if (NORM) {
    let scale = inverseSqrt(squares / dims.size + dims.epsilon);
    l *= scale;
    r *= scale;
  }
  if (SWIGLU) {
    y[i * (dims.j / 8u) + j / 8u] = silu(vec4f(l.x, l.z, r.x, r.z)) * vec4f(l.y, l.w, r.y, r.w);
    return;
  }
  let at = i * (dims.j / 4u) + j / 4u;
  let wide = j + 4u < dims.j;
  if (SPLIT) {
    let own = split * dims.stride + at;
    y[own] += l;
    if (wide) { y[own + 1u] += r; }
    return;
  }
  if (RESIDUAL) {
    l += extra[at];
    if (wide) { r += extra[at + 1u]; }
  }
  y[at] = l;
  if (wide) { y[at + 1u] = r; }
}

@compute @workgroup_size(8, 8)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let tokens = min(batch.items - dims.first, dims.most);
  let rows = select(dims.i, tokens, A_ALONG_P);
  let tiles_j = (dims.j + TILE_J - 1u) / TILE_J;
  let tiles = tiles_j * ((rows + TILE_I - 1u) / TILE_I);
  let index = linear_group(group, groups);
  let split = index / tiles;
  let tile = index % tiles;
  let base_i = (tile / tiles_j) * TILE_I;
  let base_j = (tile % tiles_j) * TILE_J;
  var begin = 0u;
  var end = dims.p;
  if (SPLIT) {
    begin = min(split * batch.split, tokens);
    end = min(begin + batch.split, tokens);
  }
  let lane = local.y * 8u + local.x;
  // Short loops over small arrays: drivers unroll them into registers.
  var left: array<vec4f, 4>;
  var right: array<vec4f, 4>;
  var squares: vec4f;
  for (var p = begin; p < end; p += TILE_P) {
    for (var t = lane; t < 128u; t += 64u) { load_a(t, base_i, p, rows, end); }
    for (var t = lane; t < 256u; t += 64u) { load_b(t, base_j, p, end); }
    workgroupBarrier();
    for (var q = 0u; q < 4u; q++) {
      let block_a = block_of_a(q, local.y);
      let block_left = block_of_b(q, local.x, 0u);
      let block_right = block_of_b(q, local.x, 1u);
      for (var t = 0u; t < 4u; t++) {
        var row = block_a[t];
        if (NORM) {
          squares[t] += dot(row, row);
          row *= extra[min(p + q * 4u, dims.p - 4u) / 4u];
        }
        left[t] += block_left * row;
        right[t] += block_right * row;
      }
    }
    workgroupBarrier();
  }
  let j = base_j + local.x * 8u;
  if (j >= dims.j || (SPLIT && split >= dims.splits)) { return; }
  for (var t = 0u; t < 4u; t++) {
    store(base_i + local.y * 4u + t, j, rows, split, left[t], right[t], squares[t]);
  }
}
