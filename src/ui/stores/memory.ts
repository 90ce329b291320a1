/** Small choices that outlive the page. A browser that keeps nothing (private mode, blocked storage) is no error. */

const key = (name: string): string => `atelier.${name}`;

export function remembered<T extends string>(name: string, allowed: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(key(name));
    return allowed.find((item) => item === value) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(key(name), value);
  } catch {
    // The choice holds until the page is closed.
  }
}

/** What was remembered under a name, unchecked: another build, or anybody with the console, may have written it. */
export function recalled(name: string): string | undefined {
  try {
    return localStorage.getItem(key(name)) ?? undefined;
  } catch {
    return undefined;
  }
}
