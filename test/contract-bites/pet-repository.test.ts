import { petRepositoryContract } from '../contract/pet-repository-contract.js';
import { bites } from './bites.js';
import { adding, copies } from './pet-repository/adding.js';
import { subject } from './pet-repository/broken.js';
import { claiming } from './pet-repository/claiming.js';
import { ending } from './pet-repository/ending.js';
import { outliving } from './pet-repository/outliving.js';
import { reading } from './pet-repository/reading.js';

bites(petRepositoryContract, subject({}), [
  ...adding,
  ...copies,
  ...reading,
  ...claiming,
  ...ending,
  ...outliving,
]);
