// Turns the animal into another resource, in a clone: docs/make-it-yours.md says how.
//   node tools/make-it-yours.mjs pet=book animal=volume category=shelf name=title status=state
// Renames words in every file that Git tracks. `name` and `status` are also words of keys and of HTTP: where the text
// around them does not tell, the compiler does.
import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const words = new Map(process.argv.slice(2).map((pair) => pair.split('=')));
const to = (word) => words.get(word) ?? word;
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
const plural = (word) => word + (/(?:s|x|ch|sh)$/.test(word) ? 'es' : 's');
const hexOf = (letter) => letter.charCodeAt(0).toString(16);

const NAME = to('name');
const STATUS = to('status');
const PET = to('pet');
const ANIMAL = to('animal');
const CATEGORY = to('category');

/** Files in which each such word is the field. */
const ONLY_FIELDS = [
  [
    'name',
    /^src\/domain\/pet\.ts$|^examples\/stores\/.*pet-repository/,
    /^test\/contract\/(?:pet-repository|animal-store\/(?!changing))|^test\/broken-adapters\/(?:animal-store|pet-)/,
  ],
  [
    'status',
    /^src\/(?:domain\/(?:pet|errors)|application\/(?:animal-store|ports\/pet-))/,
    /^test\/contract\/(?:samples|pet-|animal-|catalogue-)|^test\/broken-adapters\/(?:animal-store|pet-)/,
    /^examples\/stores\/.*(?:pet-repository|file-store|-tables)|import-export\.test|write-an-adapter\.md|documents\.test/,
  ],
];

/** Files with names of API keys, of packages or of any member. */
const OTHER_NAMES =
  /exact-json|manage-api-keys|\/keys\.|broken-adapters\/(?:binders|runner)|package|^docs\/openapi/;

const VALUE = '(?:available|pending|sold|gone|lost)';

/** What tells that `FIELD` is one of an animal. */
const IN_TEXT = [
  // JSON, also in a string.
  String.raw`(?<=(?<!^\{)["\\])FIELD(?=\\?":(?! ?\d|"(?:Dogs|Cats)))|(?<='")FIELD(?="')`,
  // Columns of CSV and SQL.
  String.raw`(?<=\b|\\n)FIELD(?=,(?:categoryId|more|other|name),|,categoryId|, categoryId, status|, category_id|,status\b|;category|"\\tcategory)`,
  String.raw`(?<=categoryId[,;]|category_id, |categoryId, |"\\tcategoryId\\t)FIELD\b`,
  String.raw`\bFIELD(?= TEXT NOT NULL(?:,\s+category_id| CHECK)| IN \(|=\? AND| text NOT NULL, category_id)`,
  String.raw`(?<=pets \(|AND |pets SET |SELECT (?:group_concat\()?(?=.* FROM pets))FIELD\b`,
  // Filters and indexes of MongoDB.
  String.raw`\bFIELD(?=: \{ \$(?!in: \[)|: 1, _id)|(?<=collection\('pets'\)\.\w+\(\{ )FIELD\b`,
  // Members beside others of an animal, and values.
  String.raw`\bFIELD(?=: [^:{}]*(?:,\s+categoryId|\},\s+\{ categoryId))|(?<=categoryId: [^:{}]*,\s+|\{ _?id: \w+, )FIELD(?=: )`,
  String.raw`(?<=\.\.\.(?:rex|fido|pet|FULL_PET|VALID)[,\s][^{}]*)\bFIELD(?=: )`,
  String.raw`\bFIELD(?<=status)(?=["'\\]* ?[:=] ?["'\\]*${VALUE}\b)|(?<=property\('|'\)\))FIELD(?=', '${VALUE}')`,
  String.raw`(?<=\bpet\??\.|PET_RULES\.|FIELD_VALUES\.)FIELD\b`,
  String.raw`(?<=field: '|(?<![\].\w])\['|name: '|[!=]== '|(?:exactly|escaped|get)\('|NewPet\['|Pick<PetRange,.*')FIELD(?=')`,
  String.raw`(?<='limit', '|'listPets', ')FIELD(?=')`,
  // Queries and options.
  "(?<=[?&'`]|--map |--map.*,)FIELD(?==)|(?<=')FIELD(?=\\[|%5B)",
  // Messages, and what tests expect of them.
  String.raw`(?<!--|the |a |its )\bFIELD(?= (?:must|is|has blanks|\.\*|\.\+|\$\{(?:PET_RULES|BLANK)))`,
  String.raw`(?<=[Aa] |one |every |invalid |another |the )FIELD(?= of \$|,| exactly| succeed|, and|')`,
  String.raw`(?<=\(\?[=!]\.\*|invalid\(/|/\\b)FIELD(?=\)|/|\\b/)|(?<=second member |several members |columns? |read: )FIELD\b`,
  '(?<=`)FIELD(?=` (?:filter|if))|(?<=`\\\\?\\$)FIELD(?=`)',
];

const FIELDS_IN_TEXT = [
  [/(?<=PET_)STATUSES/g, plural(STATUS).toUpperCase()],
  [/(?<=DEFAULT_|PET_)STATUS/g, STATUS.toUpperCase()],
  [/Status(?=Conflict)|(?<=[Pp]et)Status|(?<=By)Status/g, capital(STATUS)],
  [/status(?=_conflict|_1)|(?<=pet[-_])status|(?<=by_)status/g, STATUS],
  [/%73tatus/g, `%${hexOf(STATUS)}${STATUS.slice(1)}`],
  [/(?<=MAX_)NAME(?=_LENGTH)/g, NAME.toUpperCase()],
  // Shorthands become pairs: the variable keeps its name.
  [/\{ status, name, categoryId \}/g, `{ ${STATUS}: status, ${NAME}: name, categoryId }`],
  [/(?<=[{,] )name(?=, categoryId: )|(?<=Pet\(\{ )name(?=, categoryId \})/g, `${NAME}: name`],
  [
    /(?<=\{ )name(?= \} of animals)|(?<=\{ id, )name(?= \} of )|(?<=\{ id, )name(?= \} = pet)/g,
    `${NAME}: name`,
  ],
  [/(?<=&& \{ |nameOf = \(\{ )name(?= \})/g, `${NAME}: name`],
  [/(?<=&& \{ )status(?= \})/g, `${STATUS}: status`],
  ...['name', 'status'].map((field) => [
    new RegExp(IN_TEXT.join('|').replaceAll('FIELD', field), 'gm'),
    to(field),
  ]),
];

/** What is a field in single files. */
const IN_FILES = [
  [/import-export\.test/, /\bStatus\b/g, capital(STATUS)],
  [/import-export\.test/, /(?<=kind,)STATUS/g, STATUS.toUpperCase()],
  [/import-export\.test/, /\bName(?="|;)/g, capital(NAME)],
  [/import-export\.test/, /NAME(?=, Cat)/g, NAME.toUpperCase()],
  [/import-export\.test/, /(?<=\{")name(?=":1)/g, NAME],
  [/store-client/, /(?<=id: number; )name/g, NAME],
  [/planted/, /(?<=isBlank\()name|(?<=petWithId\(id, \{ )name(?=, categoryId,)/g, NAME],
  [/planted/, new RegExp(`(?<=petWithId\\(id, \\{ )${NAME}: name`, 'g'), NAME],
  [/documents\.test/, /(?<=animal\)\\\.\(\?:)name/g, NAME],
];

function fieldsIn(file) {
  if (OTHER_NAMES.test(file)) return [];
  const whole = ONLY_FIELDS.filter(([, ...files]) => files.some((pattern) => pattern.test(file)));
  return [
    ...FIELDS_IN_TEXT,
    ...IN_FILES.filter(([files]) => files.test(file)).map(([, ...rule]) => rule),
    ...whole.map(([field]) => [
      new RegExp(`\\b${field}\\b(?!.*'(?:fulfilled|rejected)')`, 'g'),
      to(field),
    ]),
  ];
}

/** Files in which tests or promises are pending. */
const OTHER_PENDING =
  /closing-reporter|request-table|hostile|needing|mongo-server|CONTRIBUTING|^\.ci|binders|^test\/service/;

const VALUES = [
  ...['available', 'sold', 'pending'].flatMap((value) => [
    [new RegExp(`(?<!not |Crypto is )(?:\\b|(?<=\\\\t))${value}\\b`, 'g'), to(value)],
    [new RegExp(`\\b${capital(value)}\\b`, 'g'), capital(to(value))],
  ]),
  // The fingerprint of a create, in its test.
  [/aad0c1[\da-f]{58}/g, hash('sha256', JSON.stringify(['Fido', '1', to('available')]))],
  [/(?<=u00|%)73old/g, `${hexOf(to('sold'))}${to('sold').slice(1)}`],
  [/(?<=%)61vailable/g, `${hexOf(to('available'))}${to('available').slice(1)}`],
];

const WORDS = [
  [/\b([Aa])n(?= animal)/g, /^[aeiou]/.test(ANIMAL) ? '$&' : '$1'],
  [/animal(?!.*static key id)/g, ANIMAL], // keys have their ids from this text
  [/Animal/g, capital(ANIMAL)],
  [/ANIMAL/g, ANIMAL.toUpperCase()],
  [/(?<![A-Za-z])pet(?=[^a-z]|s(?![a-z])|$)/g, PET],
  [/Pet(?=[^a-z]|s(?![a-z])|$)/g, capital(PET)],
  [/PET(?=[^A-Z]|S(?![A-Z])|$)/g, PET.toUpperCase()],
  [/category(?=I[Dd]|_id)/g, CATEGORY],
  [/Category(?=I[Dd])/g, capital(CATEGORY)],
  [/CATEGORY(?=ID)/g, CATEGORY.toUpperCase()],
];

const wordsIn = (file) => [...VALUES.slice(0, OTHER_PENDING.test(file) ? 4 : undefined), ...WORDS];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' });
const KEPT = /^docs\/(?:api|images)\/|package-lock\.json$|make-it-yours\.mjs$/;

/** Rewrites the text and the path of each file by the rules for it: pairs of a pattern and a text. */
function rename(rulesOf) {
  for (const file of git('ls-files').split('\n').filter(Boolean)) {
    if (KEPT.test(file)) continue;
    const apply = (text) =>
      rulesOf(file).reduce((renamed, [pattern, word]) => renamed.replaceAll(pattern, word), text);
    const before = readFileSync(file, 'utf8');
    const after = apply(before);
    if (after !== before) writeFileSync(file, after);
    const path = apply(file);
    if (path === file) continue;
    mkdirSync(dirname(path), { recursive: true });
    git('mv', file, path);
  }
}

/** The errors of names that are not there. */
const MISSED = /^(\S+)\((\d+),(\d+)\): error TS(2339|2353|2304|18004|2551|2552|2561): .*?'(\w+)'/gm;

/** What to write for a name that the compiler does not find. A shorthand becomes a pair. */
function foundName(code, name, isShorthand) {
  if (isShorthand && code === '2353') return `${to(name)}: ${name}`;
  const field = ['name', 'status'].find((each) => to(each) === name);
  if (isShorthand && code === '18004' && field !== undefined) return `${name}: ${field}`;
  return to(name);
}

/** Renames fields where the compiler misses them since they were renamed where they are declared. */
function renameMissed(...project) {
  let count = 0;
  const { stdout } = spawnSync('npx', ['tsc', '--build', ...project], { encoding: 'utf8' });
  // From the end: an error keeps its place when those behind it are mended.
  for (const [, file, line, column, code, name] of [...stdout.matchAll(MISSED)].toReversed()) {
    const lines = readFileSync(file, 'utf8').split('\n');
    const before = lines[line - 1].slice(0, column - 1);
    const after = lines[line - 1].slice(column - 1);
    const found = foundName(code, name, /^\w+ ?[,}]/.test(after));
    if (found === name || !after.startsWith(name)) continue;
    lines[line - 1] = before + found + after.slice(name.length);
    writeFileSync(file, lines.join('\n'));
    count += 1;
  }
  console.log(`${count} fields renamed that the compiler missed`);
  if (count > 0) renameMissed(...project);
}

rename(fieldsIn);
renameMissed('src');
renameMissed();
rename(wordsIn);
