/** Puts the fake lab in the place of `Worker`. Bundled by a test and added to the page before its own scripts. */
import { PRESET_SETTINGS } from '../views/train/presets.ts';
import { FakeLab, type FakeOptions } from './fake-lab.ts';

declare global {
  interface Window {
    /** Set by the test before this script. */
    fakeLab?: FakeOptions;
  }
}

const options = window.fakeLab ?? {};

class FakeWorker extends FakeLab {
  constructor() {
    super(options, PRESET_SETTINGS.paper);
  }
}

Object.defineProperty(window, 'Worker', { value: FakeWorker });
