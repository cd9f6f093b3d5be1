/** What a part of the interface promises, sentence by sentence. */
export interface PromiseSection {
  /** The part's name in the interface. */
  readonly title: string;
  readonly promises: readonly InterfacePromise[];
}

interface InterfacePromise {
  readonly sentence: string;
  /**
   * What shows it: the name of a row or a scenario, `FILE: TITLE` for another test, FILE below the folder
   * `test`, or the beginning of names, followed by ` …`, for all that begin so.
   */
  readonly shownBy: readonly string[];
}

const DOCUMENT = 'open-api/document.test.ts';
const CREATED = 'takes members in any order, and white space around them';
const NO_KEY = 'answers 401 missing_api_key to';
const WRONG_KEY = 'answers 401 invalid_api_key to';
const DEPRECATED = 'says that getPet is deprecated, when it goes and what replaces it, with …';

/** Every sentence of the interface that promises something of the running service. */
export const INTERFACE_PROMISES: readonly PromiseSection[] = [
  {
    title: 'What the service does',
    promises: [
      {
        sentence: 'Clients can list animals, filtered by status and limited in page size if they like.',
        shownBy: [
          'lists animals as a bare array, in ascending order of id',
          'meets every animal once by following the links, …',
        ],
      },
      {
        sentence: 'Clients can add an animal.',
        shownBy: [CREATED, 'finds an animal at its Location'],
      },
      {
        sentence: 'Clients can fetch one animal by its identifier; this operation is deprecated.',
        shownBy: ['gets an animal by its identifier', DEPRECATED],
      },
      {
        sentence: 'The address of the service ends in the path segment v1, and all paths are below it.',
        shownBy: [
          'serves nothing at /pets, for which no key is wanted',
          'serves nothing at /v2/pets, for which no key is wanted',
          'serves the operations below another base path, where the settings say so',
          'serves nothing below the default base path where the settings name another',
        ],
      },
    ],
  },
  {
    title: 'Resources and their fields: Pet',
    promises: [
      {
        sentence: 'An animal has an id, an int64 that the service assigns on creation.',
        shownBy: [
          'gives every animal a new identifier, greater than those before',
          'ignores an id in a body, and gives nothing of it back',
          'unit/int64.test.ts: is every bigint of 64 bits, and nothing else',
        ],
      },
      {
        sentence: 'An animal has the name it was given.',
        shownBy: ['keeps a name of …'],
      },
      {
        sentence: 'An animal has the categoryId it was given, an int64.',
        shownBy: ['keeps a categoryId of …'],
      },
      {
        sentence: 'An animal may have a status of PetStatus.',
        shownBy: ['keeps a status of …', 'gives an animal without a status the status available'],
      },
      {
        sentence: 'A Pet is a NewPet plus an identifier, and nothing else.',
        shownBy: [CREATED, 'ignores unknown members in a body, and gives nothing of it back'],
      },
    ],
  },
  {
    title: 'Resources and their fields: NewPet',
    promises: [
      {
        sentence: 'The name is a string, and required.',
        shownBy: ['refuses an animal without a name', 'refuses a name of …'],
      },
      {
        sentence: 'The categoryId is an int64, and required.',
        shownBy: [
          'refuses an animal without a categoryId',
          'takes a categoryId of …',
          'refuses a categoryId of …',
        ],
      },
      {
        sentence: 'The status is one of PetStatus, and may be left out.',
        shownBy: [
          'gives an animal without a status the status available',
          'keeps a status of …',
          'refuses a status of null',
        ],
      },
    ],
  },
  {
    title: 'Resources and their fields: Pets',
    promises: [
      {
        sentence: 'Pets is a JSON array of Pet objects, and the body of a successful list.',
        shownBy: ['lists animals as a bare array, in ascending order of id'],
      },
    ],
  },
  {
    title: 'Resources and their fields: PetStatus',
    promises: [
      {
        sentence: 'Its values are exactly available, pending and sold.',
        shownBy: [
          'keeps a status of …',
          'refuses a status of …',
          'takes a status of …',
          'unit/pet.test.ts: are any int64, and one of three words',
        ],
      },
    ],
  },
  {
    title: 'Resources and their fields: Error',
    promises: [
      {
        sentence: 'An error has a code, machine-readable.',
        shownBy: ['http/request-table.test.ts: names the code of every error'],
      },
      {
        sentence: 'An error has a message for people.',
        shownBy: [
          'names every fault of an animal in one message',
          'names every parameter that is wrong',
          'does not let a key that may only read add an animal',
        ],
      },
      {
        sentence: 'An error has a status, the HTTP status code of the response.',
        shownBy: [
          'answers 401 …',
          'answers 404 …',
          'answers 405 …',
          'answers 410 …',
          'answers 413 …',
          'answers 415 …',
          'answers 417 …',
          'answers 431 …',
          'answers 500 …',
          'answers 503 …',
        ],
      },
    ],
  },
  {
    title: 'States and transitions',
    promises: [
      {
        sentence: "An animal's status takes one of the values of PetStatus.",
        shownBy: [
          'gives an animal without a status the status available',
          'keeps a status of …',
          'refuses a status of …',
        ],
      },
    ],
  },
  {
    title: 'Endpoints',
    promises: [
      {
        sentence: 'Every endpoint requires authentication.',
        shownBy: [
          `${NO_KEY} listPets …`,
          `${NO_KEY} createPet …`,
          `${NO_KEY} getPet …`,
          `${NO_KEY} a HEAD of listPets …`,
          'wants a key with a cursor too',
        ],
      },
      {
        sentence: 'Responses with a body are JSON.',
        shownBy: ['answers in JSON to a client that accepts …'],
      },
    ],
  },
  {
    title: 'Endpoints: List animals',
    promises: [
      {
        sentence: 'GET /pets returns a paginated list of animals.',
        shownBy: [
          'lists animals as a bare array, in ascending order of id',
          'gives as many animals as the limit says, and a link while there are more',
          'meets every animal once by following the links, …',
          'has no link on the last page',
        ],
      },
      {
        sentence: 'It needs no request body.',
        shownBy: ['takes a static key', 'ignores a body that comes with a list'],
      },
      {
        sentence: 'The limit is the maximum number of animals returned: 1 to 100.',
        shownBy: [
          'gives as many animals as the limit says, and a link while there are more',
          'takes a limit of …',
          'refuses a limit of …',
        ],
      },
      {
        sentence: 'The limit is optional, and 20 by default.',
        shownBy: ['gives 20 animals where no limit is given'],
      },
      {
        sentence: 'The status returns only animals with this availability status.',
        shownBy: [
          'meets every animal once by following the links, 1 at a time, with status=available',
          'meets every animal once by following the links, 1 at a time, with status=pending',
          'meets every animal once by following the links, 1 at a time, with status=sold',
          'refuses a status of unknown as a filter',
        ],
      },
      {
        sentence: 'The status is optional; without it there is no filter.',
        shownBy: ['meets every animal once by following the links, 1 at a time'],
      },
      {
        sentence: '200 with Pets on success.',
        shownBy: ['lists animals as a bare array, in ascending order of id'],
      },
      {
        sentence: '401 with an Error when the API key is missing or invalid.',
        shownBy: [`${NO_KEY} listPets …`, `${WRONG_KEY} listPets …`],
      },
    ],
  },
  {
    title: 'Endpoints: Add an animal',
    promises: [
      {
        sentence: 'POST /pets takes a NewPet as application/json.',
        shownBy: [CREATED, 'takes a body of type …', 'refuses a body of type …'],
      },
      {
        sentence: '201 with the Pet, its assigned id included, when the animal was added.',
        shownBy: [CREATED, 'says where a new animal is', 'finds an animal at its Location'],
      },
      {
        sentence: '400 with an Error when the body is missing.',
        shownBy: [
          'takes no body for a missing one',
          'takes a body of no bytes for a missing one',
          'takes a body of no chunks for a missing one',
        ],
      },
      {
        sentence: '400 with an Error when required fields are missing.',
        shownBy: [
          'refuses an animal without a name',
          'refuses an animal without a categoryId',
          'names every field that is missing in one message',
        ],
      },
      {
        sentence: '400 with an Error when values are invalid.',
        shownBy: [
          'refuses a name of …',
          'refuses a categoryId of …',
          'refuses a status of …',
          'names every fault of an animal in one message',
        ],
      },
      {
        sentence: '401 with an Error when the API key is missing or invalid.',
        shownBy: [`${NO_KEY} createPet …`, `${WRONG_KEY} createPet …`],
      },
    ],
  },
  {
    title: 'Endpoints: Get an animal (deprecated)',
    promises: [
      {
        sentence: 'GET /pets/{petId} returns the animal with the identifier petId, an int64.',
        shownBy: [
          'gets an animal by its identifier',
          'finds no animal 9223372036854775807, which is an int64 that none has',
          'finds no animal -9223372036854775808, which is an int64 that none has',
        ],
      },
      {
        sentence: 'It needs no request body.',
        shownBy: ['gets an animal by its identifier', 'ignores a body that comes with getPet'],
      },
      {
        sentence:
          'It is deprecated, its removal is scheduled for 5 December 2030, and GET /pets with the status filter replaces it.',
        shownBy: [DEPRECATED],
      },
      {
        sentence: 'It can be replaced so for every animal: each has a status.',
        shownBy: ['gives an animal without a status the status available'],
      },
      {
        sentence: '200 with the Pet when it was found.',
        shownBy: ['gets an animal by its identifier', 'finds an animal at its Location'],
      },
      {
        sentence: '401 with an Error when the API key is missing or invalid.',
        shownBy: [`${NO_KEY} getPet …`, `${WRONG_KEY} getPet …`],
      },
      {
        sentence: '404 with an Error when no animal has that identifier.',
        shownBy: ['finds no animal …', 'answers a HEAD for an animal that is not there as a GET'],
      },
    ],
  },
  {
    title: 'Authentication',
    promises: [
      {
        sentence: 'All operations are secured by HTTP bearer authentication.',
        shownBy: [
          'takes a static key',
          'takes a managed key',
          `${NO_KEY} listPets with Basic credentials`,
          `${NO_KEY} listPets with the key under another scheme`,
        ],
      },
      {
        sentence: 'The key is the bearer token in the header Authorization: Bearer <API_KEY>.',
        shownBy: [
          'takes a static key',
          'does not take a key from the query as …',
          `${NO_KEY} listPets with the key in X-API-Key`,
          `${NO_KEY} listPets with the key in a cookie`,
        ],
      },
      {
        sentence: 'When the key is missing, the response is 401 with an Error.',
        shownBy: [`${NO_KEY} …`],
      },
      {
        sentence: 'When the key is invalid, the response is 401 with an Error.',
        shownBy: [`${WRONG_KEY} …`, 'answers the same to a key that is unknown, expired or revoked'],
      },
    ],
  },
  {
    title: 'Errors',
    promises: [
      {
        sentence:
          'All error responses have the shape of Error, and their status repeats the HTTP status code.',
        shownBy: [
          'answers 401 …',
          'answers 405 …',
          'answers 417 …',
          'answers 431 …',
          'answers 500 …',
          'answers 503 …',
          'refuses a request …',
          'serves nothing at …',
          'is not ready while the store is away, in the shape of an error',
        ],
      },
      {
        sentence: '400 of POST /pets: required fields are missing from the body, or values are invalid.',
        shownBy: [
          'names every field that is missing in one message',
          'names every fault of an animal in one message',
          'refuses a body …',
        ],
      },
      {
        sentence: '401 of all operations: the API key is missing or invalid.',
        shownBy: [`${NO_KEY} …`, `${WRONG_KEY} …`],
      },
      {
        sentence: '404 of GET /pets/{petId}: the animal was not found.',
        shownBy: ['finds no animal …'],
      },
    ],
  },
  {
    title: 'Limits',
    promises: [
      {
        sentence: 'The limit of GET /pets is at least 1, at most 100, and 20 by default.',
        shownBy: [
          'takes a limit of 1',
          'takes a limit of 100',
          'refuses a limit of 0',
          'refuses a limit of 101',
          'gives 20 animals where no limit is given',
        ],
      },
    ],
  },
  {
    title: 'The description',
    promises: [
      {
        sentence: 'All operations belong to the tag animals, and are called listPets, createPet and getPet.',
        shownBy: [`${DOCUMENT}: of the operations: their ids, methods and paths, all with the tag animals`],
      },
      {
        sentence: 'The service publishes two server addresses, production and staging.',
        shownBy: [
          `${DOCUMENT}: the two addresses of the settings`,
          'names the public address in the OpenAPI document, where it is known',
        ],
      },
      {
        sentence: 'All operations are secured by one scheme, named bearerAuth.',
        shownBy: [`${DOCUMENT}: of authentication: one scheme, bearerAuth, for every operation`],
      },
      {
        sentence:
          'Pet, NewPet, Pets, PetStatus and Error have the fields, types and formats of the interface.',
        shownBy: [`${DOCUMENT}: of the resources: their fields, types and which are required`],
      },
      {
        sentence: 'The interface description itself carries version 1.0.0.',
        shownBy: [`${DOCUMENT}: of its version, in OpenAPI 3.1`],
      },
      {
        sentence: 'Operations may carry a stability marker, x-stability; none of the three does.',
        shownBy: [
          `${DOCUMENT}: marks an operation whose declaration says that it is not stable`,
          `${DOCUMENT}: of stability: no marker on any of the three`,
        ],
      },
    ],
  },
  {
    title: 'Versioning',
    promises: [
      {
        sentence: 'The version segment v1 is the last path segment of the address.',
        shownBy: [
          'serves the operations below another base path, where the settings say so',
          'serves nothing at /v1x/pets, for which no key is wanted',
          'makes the link to the next page absolute where the public address is known',
        ],
      },
      {
        sentence: 'GET /pets/{petId} is flagged as deprecated, with removal on 5 December 2030.',
        shownBy: [
          DEPRECATED,
          `${DOCUMENT}: of getPet: an int64 in the path, deprecated, gone on 5 December 2030`,
        ],
      },
    ],
  },
];
