// y = silu(gate) · up. gu [items, 2 · width] holds gate and up of a column side by side; y [items, width]; vec4s.
struct Dims { width: u32 }

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<uniform> dims: Dims;
@group(0) @binding(2) var<storage, read> gu: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let index = linear_group(group, groups) * 64u + local;
  if (index >= batch.items * dims.width) { return; }
  let l = gu[2u * index];
  let r = gu[2u * index + 1u];
  y[index] = silu(vec4f(l.x, l.z, r.x, r.z)) * vec4f(l.y, l.w, r.y, r.w);
}
