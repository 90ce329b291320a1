/**
 * Finds a WebGPU device, and says in one of five words why there is none. Runs in a page, a worker and Node.
 */

/** Why a visitor has no device; each is told to them in words of its own. */
export type NoDeviceReason = 'insecure-context' | 'no-webgpu' | 'no-adapter' | 'request-failed';

export interface AcquiredDevice {
  readonly device: GPUDevice;
  readonly info: GPUAdapterInfo;
  /** A line for people. */
  readonly adapter: string;
  /** The adapter runs on the processor (SwiftShader, lavapipe, WARP). */
  readonly software: boolean;
}

export type DeviceResult =
  | ({ readonly ok: true } & AcquiredDevice)
  | { readonly ok: false; readonly reason: NoDeviceReason; readonly message: string };

/**
 * @param gpu `navigator.gpu`, or Dawn's object in Node.
 * @param secure whether the context is secure: without https, browsers hide `navigator.gpu`.
 */
export async function acquireDevice(
  gpu: GPU | undefined,
  secure: boolean = typeof isSecureContext === 'boolean' ? isSecureContext : true,
): Promise<DeviceResult> {
  const refuse = (reason: NoDeviceReason, message: string): DeviceResult => ({ ok: false, reason, message });
  if (gpu === undefined) {
    return secure
      ? refuse('no-webgpu', 'This browser has no WebGPU.')
      : refuse('insecure-context', 'The page was not loaded over https or from this machine, so the browser hides WebGPU.');
  }
  try {
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) return refuse('no-adapter', 'The browser has WebGPU, but found no adapter that it trusts.');
    const device = await adapter.requestDevice({ label: 'policy', requiredLimits: largerBuffers(adapter.limits) });
    return { ok: true, device, info: adapter.info, ...describeAdapter(adapter.info) };
  } catch (error) {
    return refuse('request-failed', `The browser refused a WebGPU device: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The default limits suffice for everything but large vocabularies; where an adapter holds larger buffers, take them. */
function largerBuffers(limits: GPUSupportedLimits): Record<string, number> {
  return {
    maxBufferSize: Math.min(limits.maxBufferSize, 2 ** 31),
    maxStorageBufferBindingSize: Math.min(limits.maxStorageBufferBindingSize, 2 ** 31 - 4),
  };
}

/** What an adapter calls itself, and whether it is emulated. */
export function describeAdapter(info: GPUAdapterInfo): { readonly adapter: string; readonly software: boolean } {
  const words = [info.vendor, info.architecture, info.device].filter((word) => word !== '');
  const adapter = info.description !== '' ? info.description : words.join(' ');
  // Older browsers have no `isFallbackAdapter` on the info.
  const software = (info.isFallbackAdapter as boolean | undefined) === true
    || /swiftshader|llvmpipe|lavapipe|basic render|warp/i.test(`${adapter} ${words.join(' ')}`);
  return { adapter: adapter === '' ? 'unnamed adapter' : adapter, software };
}
