/** Reads the list of the files of a build, which comes from a server: anybody's text. */
import * as v from 'valibot';
import type { Manifest, PackFile } from './names.ts';

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

const ManifestSchema = v.object({
  version: digest,
  files: v.pipe(v.array(v.object({
    // Downwards only, and no hidden file.
    path: v.pipe(v.string(), v.regex(/^(?!.*(?:^|\/)\.)[^/\\?#][^\\?#]*$/)),
    bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
    sha256: digest,
  })), v.minLength(1)),
});

/** @throws ValiError where it is not such a list. */
export function parseManifest(json: unknown): Manifest {
  return v.parse(ManifestSchema, json);
}

export const bytesOf = (files: readonly PackFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
