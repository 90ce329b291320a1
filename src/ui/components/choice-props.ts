/** What a choice is given, with its menu and before it has come. */

export interface ChoiceItem<T extends string> {
  readonly value: T;
  readonly label: string;
  /** Where the label is in another language than the page. */
  readonly lang?: string;
}

export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly items: readonly ChoiceItem<T>[];
  readonly onChange: (value: T) => void;
  readonly describedBy?: string;
}
