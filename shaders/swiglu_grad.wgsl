// dgate = dy · up · σ(gate) (1 + gate (1 − σ(gate))), dup = dy · silu(gate); layouts as in swiglu.wgsl.
struct Dims { width: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> gu: array<vec4f>;
@group(0) @binding(3) var<storage, read> dy: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> dgu: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  if (index >= batch.items * dims.width) { return; }
  let l = gu[2u * index];
  let r = gu[2u * index + 1u];
  let gate = vec4f(l.x, l.z, r.x, r.z);
  let up = vec4f(l.y, l.w, r.y, r.w);
  let sigma = 1.0 / (1.0 + exp(min(-gate, vec4f(80.0))));
  let dgate = dy[index] * up * sigma * (1.0 + gate * (1.0 - sigma));
  let dup = dy[index] * gate * sigma;
  dgu[2u * index] = vec4f(dgate.x, dup.x, dgate.y, dup.y);
  dgu[2u * index + 1u] = vec4f(dgate.z, dup.z, dgate.w, dup.w);
}
