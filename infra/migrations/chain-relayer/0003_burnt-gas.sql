CREATE TABLE "chain_relayer"."burnt" (
	"lane" text NOT NULL,
	"nonce" integer NOT NULL,
	"wallet" text NOT NULL,
	"wei" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "burnt_lane_nonce_pk" PRIMARY KEY("lane","nonce")
);
--> statement-breakpoint
CREATE INDEX "burnt_of_wallet" ON "chain_relayer"."burnt" USING btree ("wallet","created_at");