// Causal attention within each row of the batch, online softmax, log Σ exp kept. No T × T buffer.
// One thread a head and QUERIES consecutive items, which share the loads of keys and values; they may straddle rows.
// qkv [items, width] with queries, keys, values side by side (vec4s), rotated; out [items, heads · HEAD_VEC4],
// lse [items, heads]. `share` query heads use one key head.
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
  let start = (index / dims.heads) * QUERIES;
  if (start >= batch.items) { return; }
  let head = index % dims.heads;
  let stop = min(start + QUERIES, batch.items);
  let shift = (head / dims.share) * HEAD_VEC4;
  var q: array<vec4f, QUERIES * HEAD_VEC4>;
  var sum: array<vec4f, QUERIES * HEAD_VEC4>;
  var first: array<u32, QUERIES>;
  var most: array<f32, QUERIES>;
  var mass: array<f32, QUERIES>;
  for (var i = 0u; i < QUERIES; i++) {
    let item = min(start + i, stop - 1u);
    first[i] = items[item].first;
    most[i] = -1e30;
    for (var c = 0u; c < HEAD_VEC4; c++) { q[i * HEAD_VEC4 + c] = qkv[item * dims.width + head * HEAD_VEC4 + c] * dims.scale; }
  }
  for (var key = first[0]; key < stop; key++) {
    let k = key * dims.width + dims.keys + shift;
    let v = key * dims.width + dims.values + shift;
    // Given a value: a variable of a loop keeps its last one on SwiftShader.
    var s = array<f32, QUERIES>();
    var p = array<f32, QUERIES>();
    for (var c = 0u; c < HEAD_VEC4; c++) {
      let part = qkv[k + c];
      for (var i = 0u; i < QUERIES; i++) { s[i] += dot(q[i * HEAD_VEC4 + c], part); }
    }
    for (var i = 0u; i < QUERIES; i++) {
      if (key >= first[i] && key <= start + i) {
        if (s[i] > most[i]) {
          let shrink = exp(most[i] - s[i]);
          mass[i] *= shrink;
          for (var c = 0u; c < HEAD_VEC4; c++) { sum[i * HEAD_VEC4 + c] *= shrink; }
          most[i] = s[i];
        }
        p[i] = exp(s[i] - most[i]);
        mass[i] += p[i];
      }
    }
    for (var c = 0u; c < HEAD_VEC4; c++) {
      let part = qkv[v + c];
      for (var i = 0u; i < QUERIES; i++) { sum[i * HEAD_VEC4 + c] += p[i] * part; }
    }
  }
  for (var i = 0u; i < QUERIES; i++) {
    if (start + i < stop) {
      let at = (start + i) * dims.heads + head;
      for (var c = 0u; c < HEAD_VEC4; c++) { out[at * HEAD_VEC4 + c] = sum[i * HEAD_VEC4 + c] / mass[i]; }
      lse[at] = most[i] + log(mass[i]);
    }
  }
}
