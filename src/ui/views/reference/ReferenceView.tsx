import { Fragment, useEffect, useMemo, type ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import { formulas, symbols } from 'virtual:mathml';
import { contrast } from '../../theme/colour.ts';
import { diverging, PALETTES, sequential, type Role } from '../../theme/palette.ts';
import { navigate } from '../../routes.ts';
import { useLanguage } from '../../stores/language.ts';
import { useTheme } from '../../stores/theme.ts';
import { glossary } from '../../text/en/glossary.ts';
import { format, t } from '../../text/text.ts';
import { KeyNames } from '../../shell/KeyNames.tsx';
import { Badge, BadgeKey, SOURCES } from '../compare/Badge.tsx';
import { BENCHMARKS, CALLS, REWARDS, TABLE_1, WORKFLOWS, type Method } from '../compare/paper.ts';
import { GLYPHS } from '../step/tokens.ts';
import { FORMULA_IDS, FORMULAS } from './formulas.ts';
import { KEYS } from './keys.ts';
import { DIFFERENCES, ELSEWHERE, MEASURED, SIMPLIFICATIONS, SLIPS } from './provenance.ts';
import styles from './ReferenceView.module.css';

const SECTIONS = ['glossary', 'formulas', 'keys', 'colours', 'provenance', 'simplifications', 'elsewhere'] as const;
type Section = (typeof SECTIONS)[number];

const CONTENT: Readonly<Record<Section, () => ReactNode>> = {
  glossary: Glossary, formulas: Formulas, keys: Keys, colours: Colours, provenance: Provenance, simplifications: Simplifications, elsewhere: Elsewhere,
};

/** What everything means and where every number is from, on one page that can be searched and printed. `?section=` leads to a part. */
export function ReferenceView(): ReactNode {
  const wanted = new URLSearchParams(useSearch()).get('section');
  useEffect(() => {
    if (SECTIONS.some((section) => section === wanted)) document.getElementById(`reference-${wanted ?? ''}`)?.scrollIntoView();
  }, [wanted]);
  return (
    <div className={styles.view}>
      <header className={styles.lead}>
        <h1>{t('view.reference')}</h1>
        <p>{t('reference.lead')}</p>
      </header>
      <nav className={styles.contents} aria-label={t('reference.contents')}>
        <ul>
          {SECTIONS.map((section) => (
            <li key={section}><Link to={`/reference?section=${section}`} aria-current={wanted === section ? 'location' : undefined} onClick={() => {
              // Pressed again, where the address does not change.
              document.getElementById(`reference-${section}`)?.scrollIntoView();
            }}>{t(`reference.${section}`)}</Link></li>
          ))}
        </ul>
      </nav>
      <div className={styles.sections}>
        {SECTIONS.map((section) => {
          const Content = CONTENT[section];
          return (
            <section key={section} id={`reference-${section}`} className={styles.section} aria-labelledby={`reference-${section}-title`}>
              <h2 id={`reference-${section}-title`}>{t(`reference.${section}`)}</h2>
              <p className={styles.what}>{t(`reference.${section}.what`)}</p>
              <Content />
            </section>
          );
        })}
      </div>
    </div>
  );
}

type TermId = keyof typeof glossary extends infer K ? K extends `term.${infer Id}.what` ? Id : never : never;
const TERMS = Object.keys(glossary).flatMap((key) => (key.endsWith('.what') ? [key.slice('term.'.length, -'.what'.length) as TermId] : []));

/** Without regard to case and width. */
const plain = (text: string): string => text.normalize('NFKC').toLowerCase();

function Glossary(): ReactNode {
  const language = useLanguage();
  const search = new URLSearchParams(useSearch());
  const find = search.get('find') ?? '';
  const shown = useMemo(() => {
    const all = TERMS.map((id) => ({ id, word: t(`term.${id}`), english: glossary[`term.${id}`], what: t(`term.${id}.what`) }));
    const words = plain(find);
    return all
      .filter(({ word, english, what }) => plain(`${word} ${english} ${what}`).includes(words))
      .sort((a, b) => a.word.localeCompare(b.word, language));
  }, [find, language]);
  return (
    <>
      <label className={styles.search}>
        <span>{t('reference.find')}</span>
        <input type="search" value={find} onChange={({ currentTarget: { value } }) => {
          navigate(value === '' ? '/reference?section=glossary' : `/reference?${new URLSearchParams({ section: 'glossary', find: value }).toString()}`, { replace: true });
        }} />
        <span className={styles.count} role="status">{t('reference.found', { found: shown.length, of: TERMS.length })}</span>
      </label>
      <dl className={styles.terms}>
        {shown.map(({ id, word, english, what }) => (
          <div key={id} id={`term-${id}`}>
            <dt>{word}{language !== 'en' && word !== english && <span className={styles.english} lang="en"> {english}</span>}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Made by KaTeX while the page was built, from this project's own TeX. */
function Maths({ html, block = false }: { readonly html: string; readonly block?: boolean }): ReactNode {
  const content = { __html: html };
  return block ? <div className={styles.formula} dangerouslySetInnerHTML={content} /> : <span dangerouslySetInnerHTML={content} />;
}

function Formulas(): ReactNode {
  return FORMULA_IDS.map((id) => (
    <article key={id} className={styles.block}>
      <h3>{t(`formula.${id}`)}</h3>
      <p>{t(`formula.${id}.what`)}</p>
      <Maths html={formulas[id]} block />
      <dl className={styles.symbols}>
        {FORMULAS[id].symbols.map((name) => (
          <div key={name}>
            <dt><Maths html={symbols[name]} /></dt>
            <dd>{t(`symbol.${name}`)}</dd>
          </div>
        ))}
      </dl>
      <p><Link to={FORMULAS[id].live}>{t('reference.live')}</Link></p>
    </article>
  ));
}

function Keys(): ReactNode {
  return (
    <div className={styles.columns}>
      {KEYS.map(({ where, rows }) => (
        <div key={where} className={styles.keys}>
          <h3>{t(where)}</h3>
          <dl>
            {rows.map(({ keys, label }) => (
              <div key={label}>
                <dt><KeyNames keys={keys} /></dt>
                <dd>{t(label)}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </div>
  );
}

const ROLES: readonly Role[] = ['prompt', 'think', 'call', 'output', 'answer'];
const CHANNELS = ['owner', 'loss', 'signal', 'selection'] as const;
const SAMPLE = '42';
const STOPS = [-1, -0.5, 0, 0.5, 1] as const;

function Colours(): ReactNode {
  const { theme } = useTheme();
  const { role, surface } = PALETTES[theme];
  return (
    <>
      <h3>{t('colour.channels')}</h3>
      <dl className={styles.channels}>
        {CHANNELS.map((channel) => (
          <div key={channel}>
            <dt><span className={styles.sample} data-channel={channel} aria-hidden="true">{SAMPLE}</span>{t(`channel.${channel}`)}</dt>
            <dd>{t(`channel.${channel}.what`)}</dd>
          </div>
        ))}
      </dl>
      <Scroll title={t('colour.roles')}>
        <thead>
          <tr><th scope="col">{t('colour.role')}</th><th scope="col">{t('colour.glyph')}</th><th scope="col">{t('colour.colour')}</th><th scope="col" className="figure">{t('colour.contrast')}</th></tr>
        </thead>
        <tbody>
          {ROLES.map((name) => (
            <tr key={name}>
              <th scope="row">{t(`colour.role.${name}`)}</th>
              <td className="mono" style={{ color: role[name] }}>{GLYPHS[name]}</td>
              <td className="mono"><span className={styles.swatch} style={{ background: role[name] }} /> {role[name]}</td>
              <td className="figure">{format.fixed(contrast(role[name], surface), 1)}</td>
            </tr>
          ))}
        </tbody>
      </Scroll>
      <h3>{t('colour.scales')}</h3>
      <div className={styles.scales}>
        {(['diverging', 'sequential'] as const).map((scale) => (
          <div key={scale}>
            <div className={styles.scale} aria-hidden="true">
              {STOPS.map((stop) => {
                const { background, ink } = scale === 'diverging' ? diverging(theme, stop) : sequential(theme, (stop + 1) / 2);
                return <span key={stop} style={{ background, color: ink }}>{scale === 'diverging' ? `${stop > 0 ? '▲' : stop < 0 ? '▼' : ''}${format.signed(stop, 1)}` : format.fixed((stop + 1) / 2, 2)}</span>;
              })}
            </div>
            <p>{t(`colour.${scale}`)}</p>
          </div>
        ))}
      </div>
    </>
  );
}

/** A table that scrolls by itself where the page is narrow. */
function Scroll({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={title} tabIndex={0}>
      <table><caption>{title}</caption>{children}</table>
    </div>
  );
}

function methodName({ kind, name }: Method): string {
  return kind === 'other' ? name : t(`paper.method.${kind}`, { size: name });
}

function Provenance(): ReactNode {
  const changes = [
    ...CALLS.map(({ name, ...row }) => ({ ...row, group: t('paper.calls'), label: name, digits: 1 })),
    ...REWARDS.map(({ name, ...row }) => ({ ...row, group: t('paper.rewards'), label: name, digits: 1 })),
    ...WORKFLOWS.map(({ figure, ...row }) => ({ ...row, group: t('paper.workflows'), label: t(`paper.workflow.${figure}`) })),
  ];
  return (
    <>
      <BadgeKey sources={SOURCES} />
      <Scroll title={t('reference.measured')}>
        <thead>
          <tr><th scope="col">{t('reference.measured.what')}</th><th scope="col">{t('reference.measured.command')}</th><th scope="col">{t('reference.measured.seeds')}</th></tr>
        </thead>
        <tbody>
          {MEASURED.map(({ id, file, command, seeds, live }) => (
            <tr key={id}>
              <th scope="row"><Link to={live}>{t(`measured.${id}`)}</Link><br /><code>{file}</code></th>
              <td className={styles.command}><code>{command.split(/ (?=--)/).map((part, i) => <Fragment key={part}>{i > 0 && ' '}<span>{part}</span></Fragment>)}</code></td>
              <td>{seeds}</td>
            </tr>
          ))}
        </tbody>
      </Scroll>
      <p className={styles.note}>{t('reference.measured.engine')}</p>
      <Scroll title={t('paper.table')}>
        <thead>
          <tr><th scope="col">{t('paper.method')}</th>{BENCHMARKS.map((name) => <th key={name} scope="col" className="figure">{name}</th>)}<th scope="col">{t('paper.source')}</th></tr>
        </thead>
        <tbody>
          {TABLE_1.map((method) => (
            <tr key={`${method.kind} ${method.name}`}>
              <th scope="row">{methodName(method)}</th>
              {method.values.map((value, i) => <td key={BENCHMARKS[i]} className="figure">{format.fixed(value, 3)}</td>)}
              <td><Badge source="paper" /></td>
            </tr>
          ))}
        </tbody>
      </Scroll>
      <div className={styles.reading}>
        <p>{t('paper.read.leaders')}</p>
        <p>{t('paper.read.gains')}</p>
      </div>
      <Scroll title={t('paper.behaviour')}>
        <thead>
          <tr><td /><td /><th scope="col" className="figure">{t('paper.from')}</th><th scope="col" className="figure">{t('paper.to')}</th><th scope="col">{t('paper.source')}</th></tr>
        </thead>
        <tbody>
          {changes.map(({ group, label, from, to, over, digits, source }) => (
            <tr key={`${group} ${label}`}>
              <th scope="row">{group}</th>
              <td>{label}</td>
              <td className="figure">{format.fixed(from, digits)}</td>
              <td className="figure">{over === true ? t('paper.over', { value: format.fixed(to, digits) }) : format.fixed(to, digits)}</td>
              <td><Badge source={source} /></td>
            </tr>
          ))}
        </tbody>
      </Scroll>
      <p><Link to="/compare?part=paper">{t('reference.compare')}</Link></p>
      <h3>{t('reference.slips')}</h3>
      <ul className={styles.list}>{SLIPS.map((id) => <li key={id}>{t(`slip.${id}`)}</li>)}</ul>
    </>
  );
}

function Simplifications(): ReactNode {
  return (
    <>
      <ul className={styles.list}>{SIMPLIFICATIONS.map((id) => <li key={id}>{t(`simplification.${id}`)}</li>)}</ul>
      <h3>{t('reference.differs')}</h3>
      <ul className={styles.list}>{DIFFERENCES.map((id) => <li key={id}>{t(`differs.${id}`)}</li>)}</ul>
    </>
  );
}

function Elsewhere(): ReactNode {
  return (
    <ol className={styles.faults}>
      {ELSEWHERE.map((id) => (
        <li key={id}>
          <p>{t(`elsewhere.${id}`)}</p>
          <p className={styles.here}><b>{t('reference.here')}</b> {t(`elsewhere.${id}.here`)}</p>
        </li>
      ))}
    </ol>
  );
}
