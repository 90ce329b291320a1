import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Headers that make the page cross-origin isolated: shared memory lets a runaway Python call be interrupted. */
export const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // Relative addresses: the build works from any folder of any server.
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: { target: 'es2023', chunkSizeWarningLimit: 2000 },
  server: { headers: isolation },
  preview: { headers: isolation },
  optimizeDeps: { exclude: ['pyodide', '@jax-js/jax'] },
});
