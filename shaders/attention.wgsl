// Causal attention within each row of the batch, one thread a query and head, online softmax; keeps log Σ exp.
// qkv [items, width] with queries, keys, values side by side (vec4s), rotated; out [items, heads · HEAD_VEC4],
// lse [items, heads]. `share` query heads use one key head. No T × T buffer.
struct Dims { width: u32, heads: u32, keys: u32, values: u32, share: u32, scale: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Item>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

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
  var sum: array<vec4f, HEAD_VEC4>;
  for (var c = 0u; c < HEAD_VEC4; c++) {
    q[c] = qkv[item * dims.width + head * HEAD_VEC4 + c] * dims.scale;
    sum[c] = vec4f(0.0);
  }
  var most = -1e30;
  var mass = 0.0;
  for (var key = items[item].first; key <= item; key++) {
    let k = key * dims.width + dims.keys + shift;
    var s = 0.0;
    for (var c = 0u; c < HEAD_VEC4; c++) { s += dot(q[c], qkv[k + c]); }
    if (s > most) {
      let shrink = exp(most - s);
      mass *= shrink;
      for (var c = 0u; c < HEAD_VEC4; c++) { sum[c] *= shrink; }
      most = s;
    }
    let p = exp(s - most);
    mass += p;
    let v = key * dims.width + dims.values + shift;
    for (var c = 0u; c < HEAD_VEC4; c++) { sum[c] += p * qkv[v + c]; }
  }
  for (var c = 0u; c < HEAD_VEC4; c++) { out[index * HEAD_VEC4 + c] = sum[c] / mass; }
  lse[index] = most + log(mass);
}
