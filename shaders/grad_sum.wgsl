// grad = sum of the partial gradients over the splits, and the sum of squares of every 64 of them.
// partials [splits, stride], grad [16 · blocks], squares [blocks]; vec4s. One thread a block, fixed order.
struct Dims { blocks: u32, splits: u32, stride: u32 }

@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<storage, read> partials: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> grad: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> squares: array<f32>;

@compute @workgroup_size(32)
fn main(
  @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32,
) {
  let block = linear_group(group, groups) * 32u + local;
  if (block >= dims.blocks) { return; }
  var sum = 0.0;
  for (var i = block * 16u; i < block * 16u + 16u; i++) {
    var value = partials[i];
    for (var s = 1u; s < dims.splits; s++) { value += partials[s * dims.stride + i]; }
    grad[i] = value;
    sum += dot(value, value);
  }
  squares[block] = sum;
}
