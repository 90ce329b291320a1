// Gradient of attention for keys and values, over the queries that see the key: dv = Σ p dO,
// dk = scale · Σ p (dO · v − delta) q. One thread a key head and QUERIES consecutive items as keys, which share the
// loads of queries and gradients; layouts as in attention_dq.wgsl.
struct Dims { width: u32, heads: u32, keys: u32, values: u32, share: u32, scale: f32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> items: array<Item>;
@group(0) @binding(3) var<storage, read> qkv: array<vec4f>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> delta: array<f32>;
@group(0) @binding(6) var<storage, read> dout: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> dqkv: array<vec4f>;

@compute @workgroup_size(32)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 32u + local;
  let key_heads = dims.heads / dims.share;
  let start = (index / key_heads) * QUERIES;
  if (start >= batch.items) { return; }
  let key_head = index % key_heads;
  let stop = min(start + QUERIES, batch.items);
  var k: array<vec4f, QUERIES * HEAD_VEC4>;
  var v: array<vec4f, QUERIES * HEAD_VEC4>;
  var dk: array<vec4f, QUERIES * HEAD_VEC4>;
  var dv: array<vec4f, QUERIES * HEAD_VEC4>;
  var end: array<u32, QUERIES>;
  for (var i = 0u; i < QUERIES; i++) {
    let key = min(start + i, stop - 1u);
    end[i] = items[key].end;
    for (var c = 0u; c < HEAD_VEC4; c++) {
      k[i * HEAD_VEC4 + c] = qkv[key * dims.width + dims.keys + key_head * HEAD_VEC4 + c] * dims.scale;
      v[i * HEAD_VEC4 + c] = qkv[key * dims.width + dims.values + key_head * HEAD_VEC4 + c];
    }
  }
  for (var head = key_head * dims.share; head < (key_head + 1u) * dims.share; head++) {
    for (var item = start; item < end[QUERIES - 1u]; item++) {
      let at = item * dims.heads + head;
      let query = item * dims.width + head * HEAD_VEC4;
      var s = array<f32, QUERIES>();
      var dp = array<f32, QUERIES>();
      var p = array<f32, QUERIES>();
      var ds = array<f32, QUERIES>();
      for (var c = 0u; c < HEAD_VEC4; c++) {
        let part_q = qkv[query + c];
        let part_g = dout[at * HEAD_VEC4 + c];
        for (var i = 0u; i < QUERIES; i++) {
          s[i] += dot(k[i * HEAD_VEC4 + c], part_q);
          dp[i] += dot(v[i * HEAD_VEC4 + c], part_g);
        }
      }
      for (var i = 0u; i < QUERIES; i++) {
        if (item >= start + i && item < end[i]) {
          p[i] = exp(s[i] - lse[at]);
          ds[i] = p[i] * (dp[i] - delta[at]) * dims.scale;
        }
      }
      for (var c = 0u; c < HEAD_VEC4; c++) {
        let part_q = qkv[query + c];
        let part_g = dout[at * HEAD_VEC4 + c];
        for (var i = 0u; i < QUERIES; i++) {
          dk[i * HEAD_VEC4 + c] += ds[i] * part_q;
          dv[i * HEAD_VEC4 + c] += p[i] * part_g;
        }
      }
    }
  }
  for (var i = 0u; i < QUERIES; i++) {
    let key = start + i;
    if (key < stop) {
      for (var c = 0u; c < HEAD_VEC4; c++) {
        dqkv[key * dims.width + dims.keys + key_head * HEAD_VEC4 + c] = dk[i * HEAD_VEC4 + c];
        dqkv[key * dims.width + dims.values + key_head * HEAD_VEC4 + c] = dv[i * HEAD_VEC4 + c];
      }
    }
  }
}
