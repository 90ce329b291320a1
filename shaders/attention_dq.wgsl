// Gradient of attention for the queries, one thread a query and head; p is recomputed from the log Σ exp.
// ds = p · (dO · v − delta), dq = scale · Σ ds k, with delta = dO · O kept for the gradient of keys and values.
// Layouts as in attention.wgsl; dqkv like qkv, of which the query columns are written; delta [items, heads].
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
  if (index >= batch.items * dims.heads) { return; }
  let item = index / dims.heads;
  let head = index % dims.heads;
  let shift = (head / dims.share) * HEAD_VEC4;
  var q: array<vec4f, HEAD_VEC4>;
  var g: array<vec4f, HEAD_VEC4>;
  var sum: array<vec4f, HEAD_VEC4>;
  var own = 0.0;
  for (var c = 0u; c < HEAD_VEC4; c++) {
    q[c] = qkv[item * dims.width + head * HEAD_VEC4 + c] * dims.scale;
    g[c] = dout[index * HEAD_VEC4 + c];
    sum[c] = vec4f(0.0);
    own += dot(g[c], out[index * HEAD_VEC4 + c]);
  }
  let norm = lse[index];
  for (var key = items[item].first; key <= item; key++) {
    let k = key * dims.width + dims.keys + shift;
    let v = key * dims.width + dims.values + shift;
    var s = 0.0;
    var dp = 0.0;
    for (var c = 0u; c < HEAD_VEC4; c++) {
      s += dot(q[c], qkv[k + c]);
      dp += dot(g[c], qkv[v + c]);
    }
    let ds = exp(s - norm) * (dp - own) * dims.scale;
    for (var c = 0u; c < HEAD_VEC4; c++) { sum[c] += ds * qkv[k + c]; }
  }
  for (var c = 0u; c < HEAD_VEC4; c++) { dqkv[item * dims.width + head * HEAD_VEC4 + c] = sum[c]; }
  delta[index] = own;
}
