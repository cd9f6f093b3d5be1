// What a client generated for Go does, against a running service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	client "example.org/animalstore"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	animals := client.NewAPIClient(configuration).AnimalsAPI
	calling := context.WithValue(context.Background(), client.ContextAccessToken, os.Args[2])

	created, _, err := animals.CreatePet(calling).PetToAdd(*client.NewPetToAdd("Bella", math.MaxInt64)).Execute()
	must(err)
	milo := client.NewPetToAdd("Milo", 1)
	milo.SetStatus(client.SOLD)
	first, _, err := animals.CreatePet(calling).PetToAdd(*milo).IdempotencyKey("once").Execute()
	must(err)
	second, _, err := animals.CreatePet(calling).PetToAdd(*milo).IdempotencyKey("once").Execute()
	must(err)
	listed, _, err := animals.ListPets(calling).Limit(100).Execute()
	must(err)
	_, page, err := animals.ListPets(calling).Limit(1).Execute()
	must(err)
	got, _, err := animals.GetPet(calling, created.Id).Execute()
	must(err)
	_, _, refused := animals.GetPet(calling, math.MaxInt64).Execute()
	refusal := ""
	var typed *client.GenericOpenAPIError
	if errors.As(refused, &typed) {
		if model, ok := typed.Model().(client.Error); ok {
			refusal = model.Code
		}
	}

	categories := []string{}
	for _, pet := range listed {
		categories = append(categories, strconv.FormatInt(pet.CategoryId, 10))
	}
	text, err := json.Marshal(map[string]any{
		"created": strconv.FormatInt(created.CategoryId, 10),
		"once":    first.Id == second.Id,
		"listed":  categories,
		"got":     strconv.FormatInt(got.CategoryId, 10),
		"status":  got.GetStatus(),
		"next":    page.Header.Get("Link") != "",
		"refusal": refusal,
	})
	must(err)
	fmt.Println(string(text))
}
