/** By what one steps and how fast, the same in every view, and whether it plays. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { remember, remembered } from '../stores/memory.ts';
import { SPEEDS, type Speed, type Unit } from './transport.ts';

interface TransportState {
  /** Units that were chosen, the latest first: a view takes the first that it has. */
  readonly chosen: readonly Unit[];
  readonly speed: Speed;
  readonly playing: boolean;
}

const transportStore = createStore<TransportState>(() => ({ chosen: [], speed: remembered('speed', SPEEDS, '2'), playing: false }));

export function useTransport(): TransportState {
  return useStore(transportStore);
}

/** For what should keep still while it plays, e.g. a live region. */
export function usePlaying(): boolean {
  return useStore(transportStore, (s) => s.playing);
}

export function chooseUnit(unit: Unit): void {
  transportStore.setState(({ chosen }) => ({ chosen: [unit, ...chosen.filter((other) => other !== unit)] }));
}

export function chooseSpeed(speed: Speed): void {
  remember('speed', speed);
  transportStore.setState({ speed });
}

export function play(playing: boolean): void {
  transportStore.setState({ playing });
}
