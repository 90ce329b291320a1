// Gradient of attention for keys and values, one thread a key and key head, over the queries that see the key.
// dv = Σ p dO, dk = scale · Σ p (dO · v − delta) q; layouts as in attention_dq.wgsl.
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
  if (index >= batch.items * key_heads) { return; }
  let key = index / key_heads;
  let key_head = index % key_heads;
  let k_at = key * dims.width + dims.keys + key_head * HEAD_VEC4;
  let v_at = key * dims.width + dims.values + key_head * HEAD_VEC4;
  var k: array<vec4f, HEAD_VEC4>;
  var v: array<vec4f, HEAD_VEC4>;
  var dk: array<vec4f, HEAD_VEC4>;
  var dv: array<vec4f, HEAD_VEC4>;
  for (var c = 0u; c < HEAD_VEC4; c++) {
    k[c] = qkv[k_at + c] * dims.scale;
    v[c] = qkv[v_at + c];
    dk[c] = vec4f(0.0);
    dv[c] = vec4f(0.0);
  }
  for (var item = key; item < items[key].end; item++) {
    for (var head = key_head * dims.share; head < (key_head + 1u) * dims.share; head++) {
      let q_at = item * dims.width + head * HEAD_VEC4;
      let g_at = (item * dims.heads + head) * HEAD_VEC4;
      var s = 0.0;
      var dp = 0.0;
      for (var c = 0u; c < HEAD_VEC4; c++) {
        s += dot(k[c], qkv[q_at + c]);
        dp += dot(v[c], dout[g_at + c]);
      }
      let p = exp(s - lse[item * dims.heads + head]);
      let ds = p * (dp - delta[item * dims.heads + head]) * dims.scale;
      for (var c = 0u; c < HEAD_VEC4; c++) {
        dk[c] += ds * qkv[q_at + c];
        dv[c] += p * dout[g_at + c];
      }
    }
  }
  for (var c = 0u; c < HEAD_VEC4; c++) {
    dqkv[k_at + c] = dk[c];
    dqkv[v_at + c] = dv[c];
  }
}
