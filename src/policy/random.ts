/** The generator lies with the lowest layer, since questions are drawn with it too. */
export { pcg4d, Random, samplingUniform } from '../tasks/random.ts';
