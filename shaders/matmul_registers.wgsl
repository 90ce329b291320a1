// y = a · b in one of three layouts, 8 × 8 outputs a thread in registers, no barrier: for software adapters.
//   A_ALONG_P  a is [i, p], else [p, i];  B_ALONG_P  b is [j, p], else [p, j]
//   forward X Wᵀ: both; dX = dY W: a only; dW = dYᵀ X: neither, and p runs over the tokens
// Options: NORM multiplies a by `extra` (a gain) and each row by its 1/rms, RESIDUAL adds `extra`,
// SWIGLU writes silu(even) · odd of each pair of columns, SPLIT adds to partial sums over parts of p.
// All sizes but the number of tokens must be multiples of 4 (of 8 for the columns with SWIGLU).
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

// Columns p..p+3 over four consecutive i. Tokens past the end count as zero.
fn across_a(p: u32, end: u32, i: u32) -> mat4x4f {
  let width = dims.i / 4u;
  let column = min(i, width - 1u);
  let zero = vec4f(0.0);
  let last = end - 1u;
  return mat4x4f(
    a[p * width + column],
    select(zero, a[min(p + 1u, last) * width + column], p + 1u < end),
    select(zero, a[min(p + 2u, last) * width + column], p + 2u < end),
    select(zero, a[min(p + 3u, last) * width + column], p + 3u < end),
  );
}

// b at p..p+3 (columns of the result) and four consecutive j.
fn block_b(p: u32, end: u32, j: u32) -> mat4x4f {
  if (B_ALONG_P) {
    let width = dims.p / 4u;
    let base = j * width + p / 4u;
    return transpose(mat4x4f(b[base], b[base + width], b[base + 2u * width], b[base + 3u * width]));
  }
  let width = dims.j / 4u;
  let column = j / 4u;
  let last = end - 1u;
  return mat4x4f(
    b[p * width + column], b[min(p + 1u, last) * width + column],
    b[min(p + 2u, last) * width + column], b[min(p + 3u, last) * width + column],
  );
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

@compute @workgroup_size(4, 8)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_id) local: vec3u,
) {
  let tokens = min(batch.items - dims.first, dims.most);
  let rows = select(dims.i, tokens, A_ALONG_P);
  let tiles_j = (dims.j + 31u) / 32u;
  let tiles = tiles_j * ((rows + 63u) / 64u);
  let index = linear_group(group, groups);
  let split = index / tiles;
  let tile = index % tiles;
  let i = (tile / tiles_j) * 64u + local.y * 8u;
  let j = (tile % tiles_j) * 32u + local.x * 8u;
  if (i >= rows || j >= dims.j || (SPLIT && split >= dims.splits)) { return; }
  var begin = 0u;
  var end = dims.p;
  if (SPLIT) {
    begin = split * batch.split;
    end = min(begin + batch.split, tokens);
  }
  let zero = vec4f(0.0);
  var l0 = zero; var l1 = zero; var l2 = zero; var l3 = zero; var l4 = zero; var l5 = zero; var l6 = zero; var l7 = zero;
  var r0 = zero; var r1 = zero; var r2 = zero; var r3 = zero; var r4 = zero; var r5 = zero; var r6 = zero; var r7 = zero;
  var s0 = 0.0; var s1 = 0.0; var s2 = 0.0; var s3 = 0.0; var s4 = 0.0; var s5 = 0.0; var s6 = 0.0; var s7 = 0.0;
  // Past the last row the last one is read again, and not stored.
  let last = rows - 1u;
  let w = dims.p / 4u;
  let i0 = min(i, last) * w; let i1 = min(i + 1u, last) * w; let i2 = min(i + 2u, last) * w; let i3 = min(i + 3u, last) * w;
  let i4 = min(i + 4u, last) * w; let i5 = min(i + 5u, last) * w; let i6 = min(i + 6u, last) * w; let i7 = min(i + 7u, last) * w;
  let j0 = min(j, dims.j - 4u);
  let j4 = min(j + 4u, dims.j - 4u);
  for (var p = begin; p < end; p += 4u) {
    var a0 = zero; var a1 = zero; var a2 = zero; var a3 = zero; var a4 = zero; var a5 = zero; var a6 = zero; var a7 = zero;
    if (A_ALONG_P) {
      let q = p / 4u;
      a0 = a[i0 + q]; a1 = a[i1 + q]; a2 = a[i2 + q]; a3 = a[i3 + q];
      a4 = a[i4 + q]; a5 = a[i5 + q]; a6 = a[i6 + q]; a7 = a[i7 + q];
    } else {
      let low = transpose(across_a(p, end, i / 4u));
      let high = transpose(across_a(p, end, i / 4u + 1u));
      a0 = low[0]; a1 = low[1]; a2 = low[2]; a3 = low[3]; a4 = high[0]; a5 = high[1]; a6 = high[2]; a7 = high[3];
    }
    if (NORM) {
      let gain = extra[p / 4u];
      s0 += dot(a0, a0); s1 += dot(a1, a1); s2 += dot(a2, a2); s3 += dot(a3, a3);
      s4 += dot(a4, a4); s5 += dot(a5, a5); s6 += dot(a6, a6); s7 += dot(a7, a7);
      a0 *= gain; a1 *= gain; a2 *= gain; a3 *= gain; a4 *= gain; a5 *= gain; a6 *= gain; a7 *= gain;
    }
    let left = block_b(p, end, j0);
    l0 += left * a0; l1 += left * a1; l2 += left * a2; l3 += left * a3;
    l4 += left * a4; l5 += left * a5; l6 += left * a6; l7 += left * a7;
    let right = block_b(p, end, j4);
    r0 += right * a0; r1 += right * a1; r2 += right * a2; r3 += right * a3;
    r4 += right * a4; r5 += right * a5; r6 += right * a6; r7 += right * a7;
  }
  store(i, j, rows, split, l0, r0, s0);
  store(i + 1u, j, rows, split, l1, r1, s1);
  store(i + 2u, j, rows, split, l2, r2, s2);
  store(i + 3u, j, rows, split, l3, r3, s3);
  store(i + 4u, j, rows, split, l4, r4, s4);
  store(i + 5u, j, rows, split, l5, r5, s5);
  store(i + 6u, j, rows, split, l6, r6, s6);
  store(i + 7u, j, rows, split, l7, r7, s7);
}
