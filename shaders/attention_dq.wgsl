// Gradient of attention for the queries; p is recomputed from the log Σ exp.
// ds = p · (dO · v − delta), dq = scale · Σ ds k, with delta = dO · O kept for the gradient of keys and values.
// Threads and layouts as in attention.wgsl; dqkv like qkv, of which the query columns are written; delta [items, heads].
struct Dims { width: u32, heads: u32, keys: u32, values: u32, share: u32, scale: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Item>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> out: array<vec4f>;
@group(0) @binding(5) var<storage, read> lse: array<f32>;
@group(0) @binding(6) var<storage, read> dout: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> delta: array<f32>;
@group(0) @binding(8) var<storage, read_write> dqkv: array<vec4f>;

@compute @workgroup_size(32)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 32u + local;
  let start = (index / dims.heads) * QUERIES;
  if (start >= batch.items) { return; }
  let head = index % dims.heads;
  let stop = min(start + QUERIES, batch.items);
  let shift = (head / dims.share) * HEAD_VEC4;
  var q: array<vec4f, QUERIES * HEAD_VEC4>;
  var g: array<vec4f, QUERIES * HEAD_VEC4>;
  var sum: array<vec4f, QUERIES * HEAD_VEC4>;
  var first: array<u32, QUERIES>;
  var norm: array<f32, QUERIES>;
  var own: array<f32, QUERIES>;
  for (var i = 0u; i < QUERIES; i++) {
    let item = min(start + i, stop - 1u);
    let at = item * dims.heads + head;
    first[i] = items[item].first;
    norm[i] = lse[at];
    for (var c = 0u; c < HEAD_VEC4; c++) {
      q[i * HEAD_VEC4 + c] = qkv[item * dims.width + head * HEAD_VEC4 + c] * dims.scale;
      g[i * HEAD_VEC4 + c] = dout[at * HEAD_VEC4 + c];
      own[i] += dot(g[i * HEAD_VEC4 + c], out[at * HEAD_VEC4 + c]);
    }
  }
  for (var key = first[0]; key < stop; key++) {
    let k = key * dims.width + dims.keys + shift;
    let v = key * dims.width + dims.values + shift;
    var s = array<f32, QUERIES>();
    var dp = array<f32, QUERIES>();
    var ds = array<f32, QUERIES>();
    for (var c = 0u; c < HEAD_VEC4; c++) {
      let part_k = qkv[k + c];
      let part_v = qkv[v + c];
      for (var i = 0u; i < QUERIES; i++) {
        s[i] += dot(q[i * HEAD_VEC4 + c], part_k);
        dp[i] += dot(g[i * HEAD_VEC4 + c], part_v);
      }
    }
    for (var i = 0u; i < QUERIES; i++) {
      if (key >= first[i] && key <= start + i) { ds[i] = exp(s[i] - norm[i]) * (dp[i] - own[i]) * dims.scale; }
    }
    for (var c = 0u; c < HEAD_VEC4; c++) {
      let part = qkv[k + c];
      for (var i = 0u; i < QUERIES; i++) { sum[i * HEAD_VEC4 + c] += ds[i] * part; }
    }
  }
  for (var i = 0u; i < QUERIES; i++) {
    let item = start + i;
    if (item < stop) {
      for (var c = 0u; c < HEAD_VEC4; c++) { dqkv[item * dims.width + head * HEAD_VEC4 + c] = sum[i * HEAD_VEC4 + c]; }
      delta[item * dims.heads + head] = own[i];
    }
  }
}
