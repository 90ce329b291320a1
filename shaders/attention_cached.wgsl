// Attention of single tokens to their rollout's cache, one thread a token and head, online softmax.
// qkv [items, width] with turned queries first, out [items, heads · HEAD_VEC4]; cache as in cache_write.wgsl; vec4s.
struct Dims { width: u32, heads: u32, share: u32, positions: u32, plane: u32, scale: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Cursor>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> cache: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4f>;

@compute @workgroup_size(16)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 16u + local;
  if (index >= batch.items * dims.heads) { return; }
  let item = index / dims.heads;
  let head = index % dims.heads;
  // Nobody reads what a finished rollout would compute.
  if (items[item].done == 1u) { return; }
  let key_heads = dims.heads / dims.share;
  let keys = (items[item].slot * key_heads + head / dims.share) * dims.positions * HEAD_VEC4;
  var q: array<vec4f, HEAD_VEC4>;
  var sum: array<vec4f, HEAD_VEC4>;
  for (var c = 0u; c < HEAD_VEC4; c++) {
    q[c] = qkv[item * dims.width + head * HEAD_VEC4 + c] * dims.scale;
    sum[c] = vec4f(0.0);
  }
  var most = -1e30;
  var mass = 0.0;
  for (var position = 0u; position <= items[item].position; position++) {
    let k = keys + position * HEAD_VEC4;
    var s = 0.0;
    for (var c = 0u; c < HEAD_VEC4; c++) { s += dot(q[c], cache[k + c]); }
    if (s > most) {
      let shrink = exp(most - s);
      mass *= shrink;
      for (var c = 0u; c < HEAD_VEC4; c++) { sum[c] *= shrink; }
      most = s;
    }
    let p = exp(s - most);
    mass += p;
    for (var c = 0u; c < HEAD_VEC4; c++) { sum[c] += p * cache[dims.plane + k + c]; }
  }
  for (var c = 0u; c < HEAD_VEC4; c++) { out[index * HEAD_VEC4 + c] = sum[c] / mass; }
}
