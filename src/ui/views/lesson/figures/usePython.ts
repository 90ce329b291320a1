/** Calls of the lesson, run by the Python of this page one after the other; else what Python was recorded to answer. */
import { useEffect, useState } from 'react';
import { OBSERVATIONS } from '../../../../lesson/recorded.ts';
import type { Answered } from '../../../../lesson/traces.ts';
import { useLab } from '../../../stores/lab.ts';
import { answerTo, cancelAsking } from '../../../stores/microscope.ts';

export interface PythonAnswers {
  /** As many as there are yet, in the order of the calls. */
  readonly answers: readonly Answered[];
  readonly from: 'here' | 'recorded';
  /** Undefined where nothing is awaited. */
  readonly awaits: 'loading' | 'running' | undefined;
  /** Why recorded answers are shown, where the person did not ask for them. */
  readonly why: 'no-python' | 'no-sympy' | 'failed' | undefined;
  /** Shows the recorded answers instead. */
  readonly stop: () => void;
  /** Runs the calls here. */
  readonly again: () => void;
}

interface Ran {
  readonly of: string;
  readonly answers: readonly Answered[];
  readonly failed: boolean;
}

const keyOf = (code: string): string => `lesson/python/${code}`;
const recorded = (codes: readonly string[]): Answered[] => codes.flatMap((code) => OBSERVATIONS.get(code) ?? []);

/** @param codes the same list as long as its calls are the same. */
export function usePython(codes: readonly string[]): PythonAnswers {
  const python = useLab((s) => s.python);
  const lost = useLab((s) => s.connection === 'failed' || s.connection === 'other-version');
  const [stopped, setStopped] = useState(false);
  const of = codes.join('\0');
  const [ran, setRan] = useState<Ran>({ of, answers: [], failed: false });
  const sympy = !codes.some((code) => code.includes('sympy')) || python.state !== 'ready' || python.info.sympy !== undefined;
  const usable = python.state === 'ready' && sympy && !lost;
  useEffect(() => {
    if (!usable || stopped) return undefined;
    let gone = false;
    const run = async (): Promise<void> => {
      const answers: Answered[] = [];
      for (const code of codes) {
        const { result } = await answerTo(keyOf(code), { kind: 'python', code, limits: 'person' } as const, () => undefined);
        // The interpreter itself failed: that says nothing about the call.
        if (result.error?.kind === 'runtime') throw new Error(result.error.message);
        answers.push(result);
        if (gone) return;
        setRan({ of, answers: [...answers], failed: false });
      }
    };
    run().catch(() => {
      if (!gone) setRan({ of, answers: [], failed: true });
    });
    return () => {
      gone = true;
    };
  }, [usable, stopped, codes, of]);
  const own = ran.of === of ? ran : { of, answers: [], failed: false };
  const why = lost || python.state === 'failed' ? 'no-python' : !sympy ? 'no-sympy' : own.failed ? 'failed' : undefined;
  const here = !stopped && why === undefined;
  return {
    answers: here ? own.answers : recorded(codes),
    from: here ? 'here' : 'recorded',
    awaits: !here || own.answers.length === codes.length ? undefined : python.state === 'ready' ? 'running' : 'loading',
    why,
    stop: () => {
      setStopped(true);
      codes.forEach((code) => {
        cancelAsking(keyOf(code));
      });
    },
    again: () => {
      setRan({ of: '', answers: [], failed: false });
      setStopped(false);
    },
  };
}
