// Generates clients from docs/openapi.json with openapi-generator and lets each add animals and read the pages of a
// running service: npm run clients [-- LANGUAGE ...]. It checks what docs/generated-clients.md says of these languages.
// The generator comes from PyPI into a virtual environment below build/ and needs Java. Debian has what the clients
// need: cargo, golang, maven, php-guzzlehttp-guzzle, ruby-typhoeus. A language that is not installed is an error.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromPyPI, pip } from './pypi.mjs';
import { startService } from './service.mjs';

const KEY = 'generated-clients-key';
const root = fileURLToPath(new URL('..', import.meta.url));

const run = async (command, args, options) =>
  (
    await promisify(execFile)(command, args, { timeout: 300_000, maxBuffer: 2 ** 26, ...options })
  ).stdout.trim();
const bin = await installFromPyPI('openapi-generator-cli');
const generator = join(bin, 'openapi-generator-cli');
const folder = mkdtempSync(join(tmpdir(), 'animal-store-clients-'));

/**
 * Each program takes the address and the key, adds three animals whose category is 2^63 - 1 and whose names are not
 * ASCII, reads them in pages of one by the last id, and prints the category of the last and their number.
 */
const LANGUAGES = {
  python: {
    prepare: (client) => pip(bin, '-r', join(client, 'requirements.txt')),
    file: 'program.py',
    command: [join(bin, 'python')],
    program: `
import sys, openapi_client as c
api = c.AnimalsApi(c.ApiClient(c.Configuration(host=sys.argv[1], access_token=sys.argv[2])))
for name in ["Zoé", "ア", "🐶"]: pet = api.create_pet(c.NewPet(name=name, category_id=2**63 - 1))
count, after = 0, None
while page := api.list_pets(limit=1, after=after): count, after = count + 1, page[-1].id
print(pet.category_id, count)`,
  },
  go: {
    options: ['--model-name-mappings=NewPet=PetToAdd'],
    prepare: (client) => rmSync(join(client, 'test'), { recursive: true }), // needs a test library
    file: 'program/main.go',
    command: ['go', 'run'],
    program: `package main
import ("context"; "fmt"; "math"; "os"; c "github.com/GIT_USER_ID/GIT_REPO_ID")
func must(err error) { if err != nil { panic(err) } }
func main() {
  conf := c.NewConfiguration()
  conf.Servers = c.ServerConfigurations{{URL: os.Args[1]}}
  ctx := context.WithValue(context.Background(), c.ContextAccessToken, os.Args[2])
  api := c.NewAPIClient(conf).AnimalsAPI
  var pet *c.Pet
  for _, name := range []string{"Zoé", "ア", "🐶"} {
    var err error
    pet, _, err = api.CreatePet(ctx).PetToAdd(*c.NewPetToAdd(name, math.MaxInt64)).Execute()
    must(err)
  }
  count, after := 0, int64(0)
  for {
    page, _, err := api.ListPets(ctx).Limit(1).After(after).Execute()
    must(err)
    if len(page) == 0 { break }
    count, after = count+1, page[0].Id
  }
  fmt.Println(pet.CategoryId, count)
}`,
  },
  php: {
    // What docs/generated-clients.md tells users to do.
    prepare: (client) =>
      ['NewPet', 'Pet'].forEach((model) => {
        const file = join(client, `lib/Model/${model}.php`);
        const source = readFileSync(file, 'utf8');
        writeFileSync(file, source.replaceAll(String.raw`[^\\x00]*$/"`, String.raw`[^\\x00]*$/u"`));
      }),
    file: 'program.php',
    command: ['php'],
    program: `<?php
foreach (['Psr/Http/Message', 'Psr/Http/Client', 'GuzzleHttp/Promise', 'GuzzleHttp/Psr7', 'GuzzleHttp'] as $library)
  if (is_file($file = "/usr/share/php/$library/autoload.php")) require_once $file;
spl_autoload_register(fn ($name) => require __DIR__ . strtr("/$name.php", ['OpenAPI\\\\Client' => 'lib', '\\\\' => '/']));
$config = (new OpenAPI\\Client\\Configuration())->setHost($argv[1])->setAccessToken($argv[2]);
$api = new OpenAPI\\Client\\Api\\AnimalsApi(null, $config);
foreach (['Zoé', 'ア', '🐶'] as $name)
  $pet = $api->createPet(new OpenAPI\\Client\\Model\\NewPet(['name' => $name, 'category_id' => PHP_INT_MAX]));
for ($count = 0, $after = null; $page = $api->listPets(1, null, $after); $count++) $after = $page[0]->getId();
echo $pet->getCategoryId(), ' ', $count;`,
  },
  java: {
    prepare: (client) =>
      run('mvn', ['-q', '-B', 'compile', 'dependency:copy-dependencies', '-Dmaven.test.skip'], {
        cwd: client,
      }),
    file: 'Program.java',
    command: ['java', '-cp', 'target/classes:target/dependency/*'],
    program: `
import org.openapitools.client.*; import org.openapitools.client.api.*; import org.openapitools.client.model.*;
public class Program {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient().setBasePath(args[0]);
    client.setBearerToken(args[1]);
    var api = new AnimalsApi(client);
    Pet pet = null;
    for (var name : new String[] {"Zoé", "ア", "🐶"})
      pet = api.createPet(new NewPet().name(name).categoryId(Long.MAX_VALUE), null);
    int count = 0;
    Long after = null;
    for (var page = api.listPets(1, null, null, null); !page.isEmpty(); page = api.listPets(1, null, after, null)) {
      count++;
      after = page.get(0).getId();
    }
    System.out.println(pet.getCategoryId() + " " + count);
    System.exit(0); // okhttp keeps the process for a minute
  }
}`,
  },
  rust: {
    options: ['--additional-properties=supportAsync=false'],
    file: 'examples/program.rs',
    command: 'cargo run --quiet --no-default-features --example program --'.split(' '),
    program: `
use openapi::{apis::{animals_api::{create_pet, list_pets}, configuration::Configuration}, models::NewPet};
fn main() {
    let mut args = std::env::args().skip(2); // after the file
    let mut conf = Configuration::new();
    conf.base_path = args.next().unwrap();
    conf.bearer_access_token = args.next();
    let mut category = 0;
    for name in ["Zoé", "ア", "🐶"] {
        category = create_pet(&conf, NewPet::new(name.to_string(), i64::MAX), None).unwrap().category_id;
    }
    let (mut count, mut after) = (0, None);
    while let Some(pet) = list_pets(&conf, Some(1), None, after, None).unwrap().pop() {
        (count, after) = (count + 1, Some(pet.id));
    }
    println!("{category} {count}");
}`,
  },
  ruby: {
    file: 'program.rb',
    command: ['ruby', '-Ilib'],
    program: `
require 'uri'
require 'openapi_client'
OpenapiClient.configure do |config|
  uri = URI(ARGV[0])
  config.scheme, config.host, config.base_path = uri.scheme, "#{uri.host}:#{uri.port}", uri.path
  config.server_index = nil
  config.access_token = ARGV[1]
end
api = OpenapiClient::AnimalsApi.new
pet = ["Zoé", "ア", "🐶"].map { |name| api.create_pet(OpenapiClient::NewPet.new(name: name, category_id: 2**63 - 1)) }.last
count, after = 0, nil
until (page = api.list_pets(limit: 1, after: after)).empty?
  count, after = count + 1, page.last.id
end
puts "#{pet.category_id} #{count}"`,
  },
};

async function check(language) {
  const { options = [], prepare, file, command, program } = LANGUAGES[language];
  const client = join(folder, language);
  const document = join(root, 'docs/openapi.json');
  await run(generator, ['generate', '-g', language, '-i', document, '-o', client, ...options]);
  await prepare?.(client);
  mkdirSync(join(client, file, '..'), { recursive: true });
  writeFileSync(join(client, file), program);
  const { url, stop } = await startService({ STORE_URL: 'memory:', API_KEYS: KEY });
  try {
    const found = await run(command[0], [...command.slice(1), join(client, file), String(url), KEY], {
      cwd: client,
    });
    if (found !== '9223372036854775807 3') throw new Error(`it printed ${found}`);
    console.log(`${language}: ok`);
  } finally {
    await stop();
  }
}

try {
  const wanted = process.argv.slice(2);
  for (const language of wanted.length > 0 ? wanted : Object.keys(LANGUAGES)) {
    await check(language).catch((error) => {
      console.error(`${language}: ${error.message}`);
      process.exitCode = 1;
    });
  }
} finally {
  rmSync(folder, { recursive: true });
}
