CREATE TABLE "chain_relayer"."spent" (
	"signer" text NOT NULL,
	"identity" text NOT NULL,
	"spending" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "spent_signer_identity_pk" PRIMARY KEY("signer","identity")
);
--> statement-breakpoint
CREATE INDEX "spent_of_day" ON "chain_relayer"."spent" USING btree ("signer","spending","created_at");