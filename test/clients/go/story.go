// Plays the story with the client that oapi-codegen generates. Prints what it has read as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"

	"example.org/story/api"
)

func main() {
	compilePatterns()
	ctx := context.Background()
	session := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", os.Getenv("SESSION"))
		return nil
	}
	visitor := must(api.NewClientWithResponses(os.Getenv("BASE_URL")))
	client := must(api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithRequestEditorFn(session)))

	config := must(visitor.GetConfigWithResponse(ctx, nil)).JSON200
	quote := must(visitor.PostQuoteWithResponse(ctx, nil, api.QuoteRequest{Pair: "USD/IDR"})).JSON200
	me := must(client.GetMeWithResponse(ctx, nil)).JSON200
	order := api.TopupRequest{Amount: "500000", Method: "qr", QuoteId: quote.Id}
	checkout := must(client.PostTopupsWithResponse(ctx, nil, order)).JSON200
	item := must(client.GetMeActivityByIdWithResponse(ctx, checkout.PaymentId, nil)).JSON200
	order.Amount = "600000"
	refused := must(client.PostTopupsWithResponse(ctx, nil, order))

	code := refused.HTTPResponse.Header.Get("x-error-code")
	text := must(json.Marshal(map[string]any{
		"chainId":   config.Chain.ChainId,
		"rate":      quote.Rate,
		"wallet":    me.Wallet,
		"cycle":     me.Cycle,
		"paymentId": checkout.PaymentId,
		"status":    item.Status,
		"inFlight":  item.InFlight,
		"refused":   []any{refused.StatusCode(), code, refused.JSON400.Error},
	}))
	fmt.Println(string(text))
}

// compilePatterns compiles every pattern of the document by RE2, which knows no look-around.
func compilePatterns() {
	text := must(os.ReadFile("openapi.json"))
	found := regexp.MustCompile(`"pattern":("(?:[^"\\]|\\.)*")`).FindAllSubmatch(text, -1)
	if len(found) < 10 {
		panic("the document has hardly any pattern")
	}
	for _, match := range found {
		var pattern string
		if err := json.Unmarshal(match[1], &pattern); err != nil {
			panic(err)
		}
		regexp.MustCompile(pattern)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
